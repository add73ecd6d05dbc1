//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"slices"
	"strings"
	"sync"
)

// change is what a statement says about the validity of earlier ones.
type change struct {
	cues  [numCues]bool
	cueAt map[int]cue // by the index of the word
	// wide has the indexes of cues of two words.
	wide map[int]bool
	// doubt is set if it is a plan, a wish, a possibility or a memory of earlier times, denied if it denies a change.
	doubt, denied bool
	// ahead is set if it is about the future.
	ahead bool
	// noMore is set if a state is over, and not only denied: "no longer".
	noMore bool
}

// cue is the hint of a word that an older statement no longer holds, or still does.
type cue uint8

const (
	cueNow     cue = iota // it holds from now on
	cueReplace            // one thing replaces another
	cueEnd                // something is over
	cueNoMore             // a state is over
	cueBecome             // something changes its value
	cueAdd                // something is added
	cueCorrect            // something was wrong
	cuePast               // it was so once, or nearly
	cueStay               // something stays
	cueAlso               // it is so as well, or it changed as well
	numCues
)

// cueWords maps words, and pairs of words joined by "_", to their cue.
var cueWords = func() map[string]cue {
	out := map[string]cue{}
	for c, words := range [numCues]string{
		cueNow: `recently newly current effective_immediately aktuell aktuelle aktueller frisch recemment dernierement
			actuel actuelle recientemente en_adelante actual now nowadays these_days as_of since from_now from_today from_next
			going_forward from_here lately currently by_now starting effective meanwhile first_week this_quarter jetzt nun
			inzwischen mittlerweile neuerdings seit ab_sofort ab_jetzt ab_heute ab_nachster kunftig nunmehr seither maintenant
			desormais dorenavant depuis actuellement a_present a_partir ca_y ahora actualmente desde ultimamente de_ahora
			as_from from_tomorrow with_effect at_present presently of_late henceforth hereafter derzeit momentan zurzeit heutzutage
			seitdem von_nun von_jetzt ab_morgen ab_montag ab_dienstag ab_mittwoch ab_donnerstag ab_freitag ab_januar ab_februar
			ab_marz ab_april ab_mai ab_juni ab_juli ab_august ab_september ab_oktober ab_november ab_dezember ab_dem ab_dieser
			ab_diesem ab_nachstem ab_kommender ab_kommendem a_compter a_l'avenir ce_moment a_dater ces_temps des_lundi des_demain
			des_maintenant des_aujourd'hui hoy_en hoy_por a_dia a_contar`,
		cueReplace: `handed passed_to transferred swapping gegen ubergeben weitergegeben abgegeben transmis confie reprend
			repris releve contre cedio asume asumio encarga occupe kummert replace replaced replaces replacing swap swapped
			instead traded exchanged switched switch ditched migrated substituted succeeded succeeds took_over takes_over
			take_over taking_over
			taken_over overtaken in_favour in_favor gave_way given_way made_way make_room made_room stepped_in steps_in
			inherited inherits handed_over hands_of statt anstatt anstelle stattdessen ersetzt ersetzen abgelost lost_ab
			umgestiegen gewechselt getauscht ubernimmt ubernommen ubernahm umgestellt remplace remplacee remplaces remplacer
			remplacons lieu place plutot succede quitte_pour bascule en_lugar en_vez sustituye sustituyo sustituido reemplaza
			reemplazo reemplazado relevado relevo releva sino cambie cambio cambiado
			in_place in_lieu switching switches swaps swapped_out ripped_out ported changed_over changing_over superseded supersedes
			supplanted succeeding reassigned delegated outsourced trading stepping_in handed_on passed_on moved_off moved_away
			jumped_ship eingetauscht umgetauscht ausgetauscht tausche tauschen tauschten wechseln wechselte umsteigen stellen_um
			stellt_um stellten_um umstellen migriert portiert nachfolger nachfolgerin nachfolge ablosen loste_ab
			steige_um steigt_um stieg_um ubernehmen uberlassen
			gewichen remplacant remplacante remplacera echange echangee echanger echangeons troque troquee migre migree migrer
			basculer basculee la_releve au_profit reemplace reemplazamos reemplazaron sustitui sustituimos sustituyeron migramos
			migrado traspase traspasado cedi delegue delegado el_relevo`,
		cueEnd: `drowned run_out wrapped_up called_off fell_through ran_out broken_up let_go laid_off shut_down folded binned abgeschafft
			entsorgt ausgezogen verschenkt storniert ausgelaufen abgelaufen geplatzt rendu clos expire expiree abandonnee
			vendre expiro devolvi rompimos rompi acabado eliminado quitado anulado dimiti jubilado stopped stop quit cancelled
			canceled cancel sold closed abolished gone dead history finished off over retired lifted dropped drop scrapped
			scrap died passed_away resigned divorced separated split broke_up gave_up given_up pulled_the shut deleted removed
			ended done forget left leaves went_back expired discontinued bin_ich_durch stepped_down cut_up returned gave_back
			unsubscribed disbanded lapsed gekundigt aufgehort abgeschaltet abgesagt verkauft beendet aufgegeben abgebrochen
			ausgetreten vorbei passe raus geschlossen eingestellt gestorben getrennt geschieden bin_durch abgemeldet
			zuruckgegeben drangegeben fallt_aus weg fini finie finis arrete arreter arretee resilie vendu vendue termine
			terminee termines supprime supprimee annule annulee separes separe separee divorce divorcee mort morte ferme
			fermee lache tomber rompu demissionne dejado deje dejamos lo_dejamos vendi vendio vendido cerramos cerrado cancele
			cancelado termino acabo murio baja se_acabo separado separamos divorciado renuncie jubilo abandone
			chucked axed canned packed_in jacked_in
			stops stopping quits quitting dropping cancelling ending ends called_time wound_up wound_down
			phased_out stood_down steps_down stepping_down bowed_out pulled_out dropped_out backed_out opted_out moved_out moving_out
			walked_out sacked redundant gone_under bust bankrupt closed_down sold_off given_away gave_away thrown_out threw_out
			threw_away thrown_away got_rid rid_of parted_with parted_ways said_goodbye say_goodbye put_down euthanised rehomed dumped
			uninstalled terminated decommissioned deprecated archived completed graduated recovered weaned swore_off sworn_off cut_out
			gave_it done_with abgelegt abgestellt abgesetzt absetzen eingestampft beende beendete gecancelt gestrichen entfallt
			entfallen wegfallt schluss feierabend losgeworden weggegeben rausgeflogen rausgeschmissen gefeuert kundigte gekuendigt
			abgeblasen ausgestiegen ausgeschieden verlassen verliess
			hor_auf hore_auf hort_auf gebe_auf gibt_auf gab_auf gebe_ab gibt_ab gab_ab melde_ab
			einschlafern abbestellt dichtgemacht zugemacht pleite insolvent pensioniert
			zuruckgetreten niedergelegt hingeschmissen geschmissen eingeschlafert auseinander kein_paar verschrottet quitte quittee
			quitter quittent stoppe stopper cesse cesser vire viree licencie licenciee largue larguee plaque plaquee cloture cloturee
			jete jetee debarrasse debarrassee supprimer retire retiree desinstalle desabonne desabonnee decede est_parti est_partie
			barre barree gueri guerie revendu revendue de_cote largado abandono abandonamos abandonado renuncio renunciado dimitio
			despidieron echaron echado echada
			corto cortamos terminamos terminaron acabe acabamos tronamos finalizado finalizo cancelamos cancelaron
			anule anulamos borre borrado borramos quitamos elimine eliminamos deshice deshicimos regale devolvimos devuelto caducado
			caduco vencio vencido cerro cerraron jubile jubilada fallecio de_baja`,
		cueBecome: `bought settled_on opted picked transferred went_to now_at gekauft entschieden zugelegt geholt wechselt
			steigt gesunken verlangert achete choisi opte prolonge baisse reportee decalee deplace deplacee promu promue
			emmenage elegido adelantado retrasado ampliado bajado empezado empece trasladado trasladamos cambiamos moved
			moving move relocated became become becomes renamed changed changes upgraded upgrade bumped raised raise went_up
			up_to pushed postponed rescheduled rebooked turned turns crept extended settled went_with ended_up landed joined
			started new no_but handed_over won scaled slipped slips up_at got_renamed got married hired promoted rewritten
			slid grew gone_over moved_on converted umgezogen gezogen gelandet umbenannt verschoben geworden wurde verlegt
			erhoht gestiegen neue neuer neues neuen neu angefangen befordert verzogen besucht passe passee passes passons
			devenu devenue demenage installes installe installee renomme change changee reporte decale augmente nouveau
			nouvelle nouvel embauche embauchee entre entree pris mise mis mudado mude mudamos pasado pasa paso pasamos subido
			sube nuevo nueva renombrado aplazado cogido contratado comprado compre casamos vuelto ascendido
			goes_up go_up going_up goes_down went_down came_down comes_down gone_up risen rose rises fell_to dropped_to cut_to reduced
			down_to
			increased increase lowered doubled halved knocked_down bumped_up brought_forward moved_up moved_back put_back put_up
			pushed_back shifted delayed adjourned rearranged shortened turned_into grown shrunk expanded evolved downgraded rebranded
			appointed elected named_as demoted enrolled accepted qualified born steigen sinkt sank gesenkt erhohen angehoben reduziert
			gekurzt halbiert verdoppelt hochgesetzt heraufgesetzt herabgesetzt aufgestockt ernannt gewahlt versetzt vorgezogen
			vorverlegt verschieben verschiebt vertagt nach_hinten nach_vorne ziehe_um zieht_um zogen_um umziehen eingezogen
			aktualisiert geupdatet hochgezogen geboren eingeschult begonnen gestartet monte monter montee descendu descendue grimpe
			doublee reduit reduite diminue diminuee augmentee augmenter raccourci avancee repousse repoussee recule decales nomme
			nommee elu elue mute mutee mutation emmenagee transfere transferee est_ne est_nee rebaptise rebaptisee renommee integre
			subieron subimos subir bajaron bajar bajo_a ascendieron ascendi nombraron nombrado adelantaron aplazaron pospuesto
			pospusieron retrasaron movido movieron ampliaron redujeron reducido duplico renombramos rebautizado actualice actualizado
			actualizamos nacio nacido trasladaron mudaron empezo empezamos incorpore contrataron ficharon ascendida queda_en quedo_en`,
		cueAdd: `opened eroffnet ouvert ouverte abierto abrimos
			additionally second another besides plus both extra addition zusatzlich zweite
			zweiten zweiter noch_ein noch_einen noch_eine ausserdem weiteren weitere deuxieme seconde en_plus
			de_plus ademas segundo segunda otro otra`,
		cueAlso: `also too as_well auch ebenfalls aussi egalement tambien`,
		cueCorrect: `after_all correction actually mistake wrong mixed scratch scrap turns_out sorry rather oops typo
			korrektur kommando doch verwechselt vertan eigentlich irrtum rectification rectif erreur trompe finalement
			correctif correccion perdon equivoque error al_final
			misspoke my_bad make_that i_meant strike_that ignore_that false_alarm falsch verschrieben vertippt gemeint voulais_dire
			erratum queria_decir quise_decir mejor_dicho`,
		cuePast: `failli used_to formerly previously almost nearly fruher damals ehemals autrefois beinahe presque casi antes lived
			worked wohnte arbeitete habitais travaillais vivia trabajaba student`,
		cueStay: `stays stay still keep keeps kept unchanged remains same bleibt bleiben weiter weiterhin reste restent
			garde gardons sigue siguen conservamos igual unverandert wie_gehabt touched
			as_before as_always hasn't_changed nach_wie wie_bisher behalte behalten inchange comme_avant como_antes como_siempre
			igual_que`,
		cueNoMore: `no_longer anymore any_more no_more any_longer nicht_mehr kein_mehr keinen_mehr keine_mehr ya_no not
			never_again nimmer nie_wieder nie_mehr nix_mehr nunca_mas`,
	} {
		for w := range strings.FieldsSeq(words) {
			out[w] = cue(c)
		}
	}
	return out
}()

// frenchCues are cues in French that are plain words in Spanish: "mis amigos", "entre semana".
var frenchCues = wordSet("mis entre monte passe reste")

// ofWords follow a preposition of two words: "antes de".
var ofWords = wordSet("de del")

// cueStems are the stems of the words of [cueWords].
var cueStems = sync.OnceValue(func() map[string]bool { return stems(cueWords) })

// unsure finds statements that are no facts yet.
var unsure = pattern(`\b(?:maybe|perhaps|might|(?:i|we|he|she|they|it|user|and) may|could|would|considering|` +
	`consider|thinking (?:about|of)|think about|not sure|unsure|possibly|` +
	`probably|wondering|suggests?|recommends?|advises?|empfiehlt|empfehlen|schlagt vor|conseille|recommande|` +
	`recomienda|sugiere|aconseja|tempted|hope to|hoping|if|wish|toying|someday|some day|undecided|should|` +
	`vielleicht|eventuell|uberlege|uberlegen|wurde gern|wurde gerne|moglicherweise|wahrscheinlich|noch nicht sicher|` +
	`nicht sicher|falls|ob|konnte|konnten|mochte|` +
	`peut-etre|j'hesite|hesite|pense a|envisage|probablement|pas sur|aimerais|voudrais|si jamais|pourrais|` +
	`quiza|quizas|tal vez|a lo mejor|pensando en|planteando|planteo|no se si|me gustaria|probablemente|podria|igual me)\b`)

// coming finds statements about the future.
var coming = pattern(`\b(?:will|'ll|going to|gonna|i'm moving|am moving|is moving|plan to|planning to|` +
	`next (?:month|year|spring|summer|autumn|fall|winter)|` +
	`werde|werden|wird|ziehe|zieh|nachsten|nachstes|kommendes|vais|va|allons|prochaine?|voy a|vamos a|proximo|proxima)\b`)

// noMore finds the end of a state in words that stand apart.
var noMore = pattern(`\b(?:ne |n')[a-z' ]{1,20} plus\b|` +
	`\b(?:kein|keine|keinen|nicht)\b[a-z ]{0,30}\bmehr\b|` +
	`\bnot\b.{1,30}\b(?:any ?more|any longer|needed)\b|n't\b.{1,30}\b(?:any ?more|any longer)\b`)

// noChange finds the denial of a change.
var noChange = pattern(`\b(?:not|n't|never|nicht|no|pas|ni)\b(?: [a-z]+){0,2} ` +
	`(?:mov|chang|switch|touch|replac|postpon|renam|deplace|change|verschob|geandert|cambi|mud|toque|tocad|tocam)[a-z]*`)

// proposal finds words that make a doubt of a statement, but not of an instruction.
var proposal = pattern(`\b(?:should|could|would|suggests?|recommends?|empfehlen|conseille|recommande|` +
	`recomienda|sugiere|konnte|soll)\b`)

// prefers finds a wish in the words of a possibility: "I'd now prefer long answers".
var prefers = pattern(`\b(?:would (?:now |rather |actually )?prefer|prefererais|preferiria)\b`)

// readChange finds what the words between two positions change.
func readChange(t *text, from, to int, order bool) change {
	words := t.fold[from:to]
	c := change{cueAt: map[int]cue{}, wide: map[int]bool{}, denied: noChange().Match(words), ahead: coming().Match(words)}
	c.doubt = unsure().Match(words) && !(order && proposal().Match(words)) && !prefers().Match(words)
	ws := t.words(from, to)
	for i, w := range ws {
		f := t.folded(w)
		x, ok := cueWords[f]
		ok = ok && !(frenchCues[f] && t.quotesSpanish()) && !(f == "antes" && i+1 < len(ws) && ofWords[t.folded(ws[i+1])])
		if i+1 < len(ws) {
			if two, yes := cueWords[f+"_"+t.folded(ws[i+1])]; yes {
				x, ok = two, true
				c.wide[i] = true
			}
		}
		if !ok {
			x, ok = t.parted(ws, i)
		}
		if !ok && !(i > 0 && t.participleNoun(t.folded(ws[i-1]), f)) {
			x, ok = t.verbCue(f)
		}
		if !ok && t.beginsAt(ws, i) {
			x, ok = cueNow, true
		}
		if ok {
			c.cues[x], c.cueAt[i] = true, x
			c.noMore = c.noMore || x == cueNoMore && f != "not"
		}
	}
	c.noMore = c.noMore || noMore().Match(words)
	c.cues[cueNoMore] = c.cues[cueNoMore] || c.noMore
	return c
}

// beginsAt reports whether word i and a day or month say when something begins: "from April", but not "from Monday to Friday".
func (t *text) beginsAt(ws []word, i int) bool {
	if f := t.folded(ws[i]); i+1 >= len(ws) || !origin[f] && f != "ab" && f != "starting" || f == "of" || f == "de" || f == "du" {
		return false
	}
	day := dayWords[t.folded(ws[i+1])] || i+2 < len(ws) && ws[i+1].to-ws[i+1].from <= 2 && dayWords[t.folded(ws[i+2])]
	ends := func(w word) bool { return arriving[t.folded(w)] || t.folded(w) == "until" }
	return day && !slices.ContainsFunc(ws[i+2:min(len(ws), i+5)], ends)
}

// parted returns the cue of a verb whose particle stands behind its object: "gave the plot up", "ziehe bald um".
func (t *text) parted(ws []word, i int) (cue, bool) {
	of := particles[t.folded(ws[i])]
	if of == nil {
		return 0, false
	}
	for j := i + 2; j < min(len(ws), i+7); j++ {
		x, ok := of[t.folded(ws[j])]
		if ok && (j+1 == len(ws) || !isContent(t.folded(ws[j+1])) && !nominal[t.folded(ws[j+1])]) {
			return x, true
		}
	}
	return 0, false
}

// particles maps verbs to their particles, of [cueWords].
var particles = func() map[string]map[string]cue {
	parts := wordSet("up off down in out away back over um ab auf aus weg zuruck")
	out := map[string]map[string]cue{}
	for w, c := range cueWords {
		verb, particle, _ := strings.Cut(w, "_")
		if !parts[particle] || parts[verb] || c != cueEnd && c != cueReplace && c != cueBecome {
			continue
		}
		if out[verb] == nil {
			out[verb] = map[string]cue{}
		}
		out[verb][particle] = c
	}
	return out
}()

// after returns the index of the word behind a cue.
func (c *change) after(i int) int {
	if c.wide[i] {
		return i + 2
	}
	return i + 1
}

// says reports whether a statement has one of the cues.
func (c *change) says(any ...cue) bool {
	for _, x := range any {
		if c.cues[x] {
			return true
		}
	}
	return false
}
