package queryexpand

var german = language{
	function: `der die das den dem des ein eine einen einem einer eines kein keine keinen dies diese dieser dieses diesem diesen
	jener jene jenes er sie es ihn ihm ihr ihre ihren ihrem ihrer ihres ihnen sein seine seinen seinem seiner seines ich mich mir
	mein meine meinen wir uns unser unsere unseren du dich dir dein deine euch euer man sich selbst wer wen wem wessen was welche
	welcher welches welchen welchem wann wo woher wohin warum wieso weshalb wie worauf womit wofür wovon wozu woran worin
	bin bist ist sind seid war waren wäre wird werden wurde wurden worden hat habe haben hatte hatten hätte kann kannst können
	konnte könnte muss müssen musste soll sollen sollte will wollen wollte darf dürfen mag möchte lässt lassen geht gehen ging
	gibt geben gab macht machen gemacht tut tun und oder aber denn doch sondern also dann sonst wenn falls ob weil da als bis
	seit bevor nachdem während damit daß dass obwohl in im an am auf aus bei beim mit nach vor von vom zu zum zur für über unter
	um durch gegen ohne zwischen neben hinter auch noch schon nur nicht nichts etwas alles alle viel viele mehr sehr so hier dort
	da dabei dadurch dafür dagegen daher dahin damals danach daneben daran darauf daraus darin darüber darunter davon davor dazu
	jetzt immer nie oft lange lang groß klein schnell eigentlich mal bitte danke ja nein genau gut wieder ander andere anderen anderes
	gleich gleiche gleichen heißt sagen weiß wissen brauche brauchen nutzen eben halt etwa denn bloß je jede jeder jedes jeden`,
	refers: `er es ihn ihm ihnen denen sie
	dabei dadurch dafür dagegen dahin danach daneben daran darauf daraus darin darüber darunter davon davor dazu dahinter
	hierfür hierzu hiermit derselbe dieselbe dasselbe denselben`,
	owners:  `sein seine seinen seinem seiner seines deren dessen ihr ihre ihren ihrem ihrer`,
	points:  `das dies diese dieser dieses diesem diesen jener jene jenes`,
	places:  `dort`,
	openers: `und aber oder also dann sonst`,
	links:   `auch sonst stattdessen danach vorher außerdem trotzdem hinterher`,
	breaks:  `und oder aber weil wenn falls während nachdem bevor seit bis obwohl sobald damit`,
	fillers: `ok okay ja nein danke gut super prima schön klar alles genau ah oh hm`,
	phrases: []string{"was ist mit", "wie steht", "was noch", "wer noch", "und wenn", "warum nicht"},
	turns: []string{
		"neues thema", "anderes thema", "andere frage", "neue frage", "etwas ganz anderes", "was ganz anderes", "themawechsel", "übrigens",
	},
	asking: `wie was welche welcher welches welchen welchem wer wen wem wessen wann wo woher wohin warum wieso weshalb worauf womit wofür
	wovon wozu woran worin kann kannst können könnt könnte könntest könnten ist sind war hat haben gibt darf dürfen muss müssen soll
	sollen sollte sollten wird werden schreib schreibe schreiben zeig zeige zeigen erklär erkläre erklären liste nenn nenne nennen erstell
	erstelle erstellen mach mache machen gib geben hilf helfen such suche suchen finde finden beschreib beschreibe fass fasse fassen
	übersetze übersetzen vergleiche vergleichen prüfe prüfen berechne berechnen`,
	manners: `bitte mal kurz hallo hi jetzt erstens zweitens`,
	requests: []string{
		"ich brauche", "ich suche", "wir brauchen", "wir suchen", "ich wüsste", "wissen ob", "wissen wie", "wissen was", "frage mich",
		"sag mir", "sagen sie mir", "weißt du", "wissen sie", "kannst du", "könntest du", "können sie", "könnten sie", "gibt es",
	},
}
