//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"regexp"
	"strings"
)

// change is what a statement says about the validity of earlier ones.
type change struct {
	cues  [numCues]bool
	cueAt map[int]cue // by the index of the word
	// doubt is set if it is a plan, a wish, a possibility or a memory of earlier times, denied if it denies a change.
	doubt, denied bool
	// ahead is set if it is about the future.
	ahead bool
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
			desormais dorenavant depuis actuellement a_present a_partir ca_y ahora actualmente desde ultimamente de_ahora`,
		cueReplace: `handed passed_to transferred swapping gegen ubergeben weitergegeben abgegeben transmis confie reprend
			repris releve contre cedio asume asumio encarga occupe kummert replace replaced replaces replacing swap swapped
			instead traded exchanged switched switch ditched migrated substituted succeeded succeeds took_over takes_over
			taken_over overtaken in_favour in_favor gave_way given_way made_way make_room made_room stepped_in steps_in
			inherited inherits handed_over hands_of statt anstatt anstelle stattdessen ersetzt ersetzen abgelost lost_ab
			umgestiegen gewechselt getauscht ubernimmt ubernommen ubernahm umgestellt remplace remplacee remplaces remplacer
			remplacons lieu place plutot succede quitte_pour bascule lugar vez sustituye sustituyo sustituido reemplaza
			reemplazo reemplazado relevado relevo releva sino cambie cambio cambiado`,
		cueEnd: `wrapped_up called_off fell_through ran_out broken_up let_go laid_off shut_down folded binned abgeschafft
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
			cancelado termino acabo murio baja se_acabo separado separamos divorciado renuncie jubilo abandone`,
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
			sube nuevo nueva renombrado aplazado cogido contratado comprado compre casamos vuelto ascendido`,
		cueAdd: `opened eroffnet ouvert ouverte abierto abrimos
			also too additionally second another as_well besides plus both extra addition auch zusatzlich zweite
			zweiten zweiter noch_ein noch_einen noch_eine ausserdem weiteren weitere aussi egalement deuxieme seconde en_plus
			de_plus tambien ademas segundo segunda otro otra`,
		cueCorrect: `after_all correction actually mistake wrong mixed scratch scrap turns_out sorry rather oops typo
			korrektur kommando doch verwechselt vertan eigentlich irrtum rectification rectif erreur trompe finalement
			correctif correccion perdon equivoque error al_final`,
		cuePast: `formerly previously once almost nearly fruher damals ehemals autrefois beinahe presque casi antes lived
			worked wohnte arbeitete habitais travaillais vivia trabajaba student`,
		cueStay: `stays stay still keep keeps kept unchanged remains same bleibt bleiben weiter weiterhin reste restent
			garde gardons sigue siguen conservamos igual unverandert wie_gehabt touched`,
		cueNoMore: `no_longer anymore any_more no_more any_longer nicht_mehr kein_mehr keinen_mehr keine_mehr ya_no not`,
	} {
		for w := range strings.FieldsSeq(words) {
			out[w] = cue(c)
		}
	}
	return out
}()

// unsure finds statements that are no facts yet.
var unsure = regexp.MustCompile(`\b(?:maybe|perhaps|might|(?:i|we|he|she|they|it|user|and) may|could|would|considering|` +
	`consider|thinking (?:about|of)|think about|not sure|unsure|possibly|` +
	`probably|wondering|tempted|hope to|hoping|if|wish|toying|someday|some day|one day|undecided|should|` +
	`vielleicht|eventuell|uberlege|uberlegen|wurde gern|wurde gerne|moglicherweise|wahrscheinlich|noch nicht sicher|` +
	`nicht sicher|falls|ob|konnte|konnten|mochte|` +
	`peut-etre|j'hesite|hesite|pense a|envisage|probablement|pas sur|aimerais|voudrais|si jamais|pourrais|` +
	`quiza|quizas|tal vez|a lo mejor|pensando en|planteando|planteo|no se si|me gustaria|probablemente|podria|igual me)\b`)

// coming finds statements about the future.
var coming = regexp.MustCompile(`\b(?:will|'ll|going to|gonna|i'm moving|am moving|is moving|plan to|planning to|` +
	`next (?:month|year|spring|summer|autumn|fall|winter)|` +
	`werde|werden|wird|ziehe|zieh|nachsten|nachstes|kommendes|vais|va|allons|prochaine?|voy a|vamos a|proximo|proxima)\b`)

// noMore finds the end of a state in words that stand apart.
var noMore = regexp.MustCompile(`\b(?:ne |n')[a-z' ]{1,20} plus\b|` +
	`\b(?:kein|keine|keinen|nicht)\b[a-z ]{0,30}\bmehr\b|` +
	`\bnot\b.{1,30}\b(?:any ?more|any longer|needed)\b|n't\b.{1,30}\b(?:any ?more|any longer)\b`)

// noChange finds the denial of a change.
var noChange = regexp.MustCompile(`\b(?:not|n't|never|nicht|no|pas|ni)\b(?: [a-z]+){0,2} ` +
	`(?:mov|chang|switch|touch|replac|postpon|renam|deplace|change|verschob|geandert|cambi|mud|toque|tocad|tocam)[a-z]*`)

// proposal finds words that make a doubt of a statement, but not of an instruction.
var proposal = regexp.MustCompile(`\b(?:should|could|would|konnte|soll)\b`)

// readChange finds what the words between two positions change.
func readChange(t *text, from, to int, order bool) change {
	words := t.fold[from:to]
	c := change{cueAt: map[int]cue{}, denied: noChange.Match(words), ahead: coming.Match(words)}
	c.doubt = unsure.Match(words) && !(order && proposal.Match(words))
	ws := t.words(from, to)
	for i, w := range ws {
		f := t.folded(w)
		x, ok := cueWords[f]
		if i+1 < len(ws) {
			if two, yes := cueWords[f+"_"+t.folded(ws[i+1])]; yes {
				x, ok = two, true
			}
		}
		if ok {
			c.cues[x], c.cueAt[i] = true, x
		}
	}
	c.cues[cueNoMore] = c.cues[cueNoMore] || noMore.Match(words)
	return c
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
