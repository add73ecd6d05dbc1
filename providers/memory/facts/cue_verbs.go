//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"strings"
	"sync"
)

// verbCues are the cues of verbs of ending, giving away, losing, replacing and moving, by language and form. A form counts only in
// texts of its language: "quite" is an adverb in English and a verb in Spanish.
var verbCues = sync.OnceValue(func() map[string]map[string]cue {
	out := map[string]map[string]cue{}
	for lang, verbs := range map[string]map[string][numCues]string{
		"en": {
			"ed ing es": {
				cueEnd: `abandon abolish annull auction bin boot cancell cancel chuck demolish discard disband dissolv ditch donat dump
					eject evict expir flogg forfeit kick offload outgrow pension quash relinquish renounc repeal repossess rescind resign
					retir return revok scrapp shelv shredd smash stopp surrender suspend terminat total trash uninstall unfollow unplugg
					unsubscrib vacat waiv withdraw yank`,
				cueReplace: "replac swapp switch substitut exchang supersed migrat transferr reassign delegat convert port",
				cueBecome: `relocat postpon reschedul delay advanc extend shorten rais lower increas decreas doubl halv bump nudg promot
					demot renam rebrand rebook push shift slipp adjust upgrad downgrad reduc trimm trebl tripl appoint elect enroll`,
			},
			"": {
				cueEnd: `sold lost stolen nicked broke broken died gone quit burnt torn cured discharged healed shelved defunct obsolete
					drowned crashed wrecked totalled euthanised rehomed withdrew withdrawn evicted`,
				cueReplace: "supplanted overtaken",
				cueBecome:  "rose risen fallen grown shrank shrunk climbed",
			},
		},
		"de": {"": {
			cueEnd: `abbestellt abgebaut abgebrochen abgegeben abgehakt abgelaufen abgelegt abgemeldet abgenommen abgerissen abgesagt
				abgeschafft abgeschaltet abgeschlossen abgeschrieben abgesetzt abgesprungen abgestellt abgestossen abgewahlt abgewickelt
				aufgebraucht aufgegeben aufgehoben aufgehort aufgelost ausgedient ausgefallen ausgeheilt ausgelaufen ausgemistet
				ausgemustert ausgeraumt ausgeschieden ausgeschlichen ausgesetzt ausgestiegen ausgetreten ausgezogen auskuriert beendet
				beerdigt begraben demontiert eingegangen eingemottet eingeschlafert eingestampft eingestellt entfernt entfallen entflogen
				entlassen entlaufen entsorgt erledigt exmatrikuliert fallengelassen gecancelt gefeuert gekappt gekundigt geleert geloscht
				geplatzt geraumt gescheitert geschieden geschlossen geschmissen gespendet gestohlen gestorben gestoppt gestrichen getilgt
				getrennt hergegeben hingeschmissen kuriert lahmgelegt losgeworden pleite rausgeschmissen rausgeworfen stillgelegt storniert
				verboten verendet verfallen vergeben verjagt verkauft verlassen verloren vernichtet verpfandet verramscht verscherbelt
				verschenkt verschrottet verschwunden verstorben vertickt verworfen verzichtet vorbei voruber weggefallen weggegeben
				weggelaufen weggelegt weggenommen weggeschmissen weggeworfen weggezogen widerrufen zerbrochen zerlegt zerrissen zerstort
				zugemacht zuruckgegeben zuruckgeschickt zuruckgetreten zuruckgezogen`,
			cueReplace: `abgelost ausgetauscht ausgewechselt eingetauscht ersetzt gewechselt getauscht migriert portiert transferiert
				uberfuhrt ubergeben ubernommen ubersiedelt ubertragen umgeschwenkt umgesattelt umgestellt umgestiegen umgezogen
				weitergegeben weitergereicht`,
			cueBecome: `angehoben aufgestiegen aufgestockt ausgeweitet befordert erhoht erhohte ermassigt ernannt erweitert geandert
				gehoben gekurzt geklettert gerutscht geschoben geschrumpft gesenkt gesprungen gestiegen gewachsen geworden halbiert
				herabgesetzt heraufgesetzt heruntergesetzt hochgesetzt hochgestuft reduziert rutscht umbenannt umgebucht umgelegt
				umgetauft verdoppelt verdreifacht vergrossert verkleinert verkurzt verlangert verlegt verschoben versetzt vertagt
				vorgeruckt vorgezogen vorverlegt`,
		}},
		"fr": {
			"e ee es ees er": {
				cueEnd: `abandonn abrog achev annul arret bazard brad cass cess clotur debarrass decroch demissionn desabonn desactiv
					desinscrit desinstall dissip divorc donn effac elimin emport enlev expir expuls ferm gueri jet lach larg largu licenci
					liquid perim plaqu quitt radi renonc renvoy resili retir revoqu separ sold stopp supprim suspend termin vid vol`,
				cueReplace: "remplac troqu echang bascul migr permut substitu delegu transfer",
				cueBecome: `augment avanc rebaptis baptis baiss decal deplac diminu doubl emmenag grimp mut nomm prolong rallong recal recul
					relev renomm repouss report reprogramm tripl abaiss ajust`,
			},
			"i ie is ies": {cueEnd: "aboli banni demoli fin guer", cueBecome: "agrand elarg raccourc grand grossi maigr"},
			"u ue us ues": {cueEnd: "perd rend vend revend romp interromp dispar"},
			"": {
				cueEnd:     "mort morte morts mortes dissous dissoute interdit interdite abattu abattue detruit detruite",
				cueReplace: "repris reprise transmis transmise converti convertie",
				cueBecome:  "promu promue reduit reduite elu elue descendu descendue devenu devenue",
			},
		},
		"es": {
			"e o amos aron ado ada ados adas": {
				cueEnd: `abandon acab agot anul apag aparc arroj borr caduc cancel cans clausur cort derog desactiv desahuci descart desech
					desinstal despach divorci don elimin entreg enterr expuls finaliz jubil larg licenci liquid olvid plant quit rechaz
					regal renunci retir revent revoc rob solt suspend tach termin tir tumb vaci`,
				cueReplace: "canje intercambi migr permut reemplaz relev traspas traslad deleg",
				cueBecome: `adelant alarg ampli aplaz aument atras baj rebautiz coloc recoloc dobl duplic elev nombr prorrog rebaj recort
					renombr reprogram retras triplic renov actualiz`,
			},
			"i io imos ieron ido ida idos idas": {
				cueEnd:     "vend revend perd romp part despid extingu fallec expir suprim dimit prescrib abol prohib interrump",
				cueReplace: "sustitu sustituy ced",
				cueBecome:  "sub reduc ascend",
			},
			"": {
				cueEnd:    "roto rota muerto muerta disuelto disuelta devuelto devuelta deshecho despidieron prohibido",
				cueBecome: "ascendido reducido reducida pospuesto",
			},
		},
	} {
		forms := map[string]cue{}
		for endings, stems := range verbs {
			for c, of := range stems {
				for stem := range strings.FieldsSeq(of) {
					for ending := range strings.SplitSeq(endings, " ") {
						forms[stem+ending] = cue(c)
					}
				}
			}
		}
		out[lang] = forms
	}
	return out
})

// participleNoun reports whether the form of a Spanish verb is a noun behind its article: "la partida".
func (t *text) participleNoun(before, f string) bool {
	return t.quotesSpanish() && articleWords[before] && hasAnySuffix(f, "ada", "adas", "ida", "idas", "ado", "ados", "ido", "idos")
}

// verbCue returns the cue of a form of [verbCues] in the language of the text.
func (t *text) verbCue(f string) (cue, bool) {
	lang := "en"
	switch {
	case t.quotesGerman():
		lang = "de"
	case t.quotesFrench():
		lang = "fr"
	case t.quotesSpanish():
		lang = "es"
	}
	c, ok := verbCues()[lang][f]
	return c, ok
}
