//nolint:misspell // the words are Spanish
package timeexpr

import "strings"

var spanishTable = table{
	language: spanish,
	months: "enero ene, febrero feb, marzo, abril abr, mayo, junio jun, julio jul, agosto, septiembre setiembre sep sept, " +
		"octubre oct, noviembre nov, diciembre dic",
	weekdays: "lunes, martes, miercoles, jueves, viernes, sabado sabados, domingo domingos",
	units: "minuto minutos, hora horas, dia dias, semana semanas, -, finde, mes meses, trimestre trimestres, " +
		"ano anos",
	parts:   "manana madrugada, mediodia, tarde, -, noche",
	seasons: "primavera, verano, otono, invierno",
	cardinals: "uno un una, dos, tres, cuatro, cinco, seis, siete, ocho, nueve, diez, once, doce, trece, catorce, quince, " +
		"dieciseis, diecisiete, dieciocho, diecinueve, veinte, treinta, cuarenta, cincuenta, sesenta, setenta, ochenta, " +
		"noventa, cien",
	ordinals: "primero primera primer primeras primeros, segundo segunda, tercero tercera tercer, cuarto cuarta, " +
		"quinto quinta, sexto sexta, septimo septima setimo setima, octavo octava, noveno novena, decimo decima, " +
		"undecimo undecima decimoprimera decimoprimero, duodecimo duodecima decimosegunda decimosegundo, " +
		"decimotercero decimotercera decimotercer, decimocuarto decimocuarta, decimoquinto decimoquinta, " +
		"decimosexto decimosexta, decimoseptimo decimoseptima, decimoctavo decimoctava, decimonoveno decimonovena, " +
		"vigesimo vigesima, trigesimo trigesima, cuadragesimo cuadragesima, quincuagesimo quincuagesima, " +
		"sexagesimo sexagesima, septuagesimo septuagesima, octogesimo octogesima, nonagesimo nonagesima, centesimo centesima",
	roles: []words{
		{leadIn, "en durante"},
		{leadOn, "el del al"},
		{lead, "la los las de a por nuestra nuestro nuestras nuestros mi lo"},
		{between, "entre"},
		{from, "de del desde"},
		{and, "y e"},
		{to, "a al hasta"},
		{since, "desde partir"},
		{after, "despues tras"},
		{before, "antes"},
		{until, "hasta"},
		{onward, "adelante"},
		{last, "ultima ultimo ultimas ultimos pasada pasado pasadas pasados anterior anteriores reciente"},
		{past, "ultima ultimo ultimas ultimos"},
		{passed, "pasada pasado anterior ultima previa previo"},
		{this, "esta este estas estos actual"},
		{ago, "atras antes"},
		{agoFirst, "hace"},
		{of, "de del"},
		{earlier, "temprano"},
		{more, "mas"},
		{early, "principios comienzos inicios principio comienzo inicio"},
		{mid, "mediados mitad"},
		{late, "finales fines final fin"},
		{penult, "penultima penultimo antepasada antepasado"},
		{couple, "par"},
		{few, "unos unas pocos pocas algunos algunas"},
		{several, "varios varias"},
		{session, "sesion sesiones conversacion conversaciones charla charlas chat chats dialogo dialogos discusion discusiones " +
			"platica platicas"},
		{weakly, "reunion encuentro llamada"},
		{plural, "sesiones conversaciones charlas chats dialogos discusiones platicas dias semanas meses trimestres anos horas"},
		{numero, "numero num n no"},
		{today, "hoy"},
		{yesterday, "ayer"},
		{twoAgo, "anteayer antier antes"},
		{lastNight, "anoche"},
		{tens, "y"},
		{coming, "proximo proxima proximos proximas cada"},
		{our, "nuestra nuestro nuestras nuestros"},
		{occasion, "vez"},
		{someDay, "otro"},
		{generic, "que cual cuales cuando donde quien quienes como se nos nosotros nosotras yo tu me te lo le fue fueron era eran es " +
			"son hay habia he has ha hemos habiamos habian todo todos algo eso esto ello sobre acerca de la el los las un una " +
			"del con en y o a por favor puedes podrias quiero tu tus mi mis su"},
		{generic, "hablamos hablado hablar hablabamos hablaste hable hablando discutimos discutido discutir conversamos conversado " +
			"conversar comentamos comentado comentar tratamos tratado tratar dijimos dicho dije dijiste decir charlamos charlado " +
			"charlar platicamos platicado mencionamos mencionado mencione mencionaste contamos conte contaste paso pasado " +
			"ocurrio ocurrido sucedio sucedido hicimos hecho hice vimos trata trataba trato"},
		{generic, "tema temas cosa cosas asunto asuntos punto puntos contenido resumen resume resumir resumeme resumenos " +
			"recuerdame recuerda recuerdas recordar recordarme dime di muestra muestrame lista dia dias semana mes ano fecha"},
	},
}

// spanishNumerals adds the numbers from 21 to 29, which Spanish writes as one word.
func (b builder) spanishNumerals() {
	n := 20
	for ones := range strings.SplitSeq("un uno una, dos, tres, cuatro, cinco, seis, siete, ocho, nueve", ",") {
		n++
		for one := range strings.FieldsSeq(ones) {
			b.entry("veinti"+one, spanish).cardinal = int16(n)
		}
	}
}
