package queryexpand

var spanish = language{
	function: `el la los las lo un una unos unas al del de este esta estos estas esto ese esa esos esas eso aquel aquella aquello él ella
	ello ellos ellas le les se me te nos os mi mis tu tus su sus nuestro nuestra nuestros yo tú usted ustedes nosotros quien quién
	quienes que qué cual cuál cuáles cuando cuándo donde dónde adónde por porqué como cómo ` +
		`cuanto cuánto cuánta cuántos cuántas ` + //nolint:misspell // Spanish
		`soy eres es somos son era eran fue fueron ser será sería estoy está están estaba estar he ha has han hay había haber hace
	hacer hacen hago puede puedo pueden podemos podría poder debe debo deben tiene tengo tienen tener va voy van ir quiero quiere
	y e o u pero sino si entonces porque pues aunque mientras antes después desde hasta luego
	a en con sin para por sobre entre hacia contra según no ni sí también tampoco ya aún todavía muy más menos mucho muchos
	poco todo toda todos todas otro otra otros otras mismo misma mismos cada algo alguien nada nadie algún alguna siempre nunca
	aquí ahí allí allá ahora gracias hola vale bien claro favor tiempo vez hora cosa cosas grande decir saber usar necesito`,
	refers:  `él ella ello ellos ellas le les esto eso aquello`,
	owners:  `su sus`,
	points:  `este esta estos estas ese esa esos esas otro otra otros otras mismo misma`,
	places:  `ahí allí`,
	openers: `y e pero o entonces`,
	links:   `también tampoco además luego después entonces`,
	breaks:  `y e o pero porque si cuando mientras antes después desde hasta aunque`,
	fillers: `ok sí no vale gracias bien claro perfecto genial bueno hola ah oh`,
	phrases: []string{"y si", "y para", "qué más", "quién más", "por qué no", "qué tal"},
	turns:   []string{"otra pregunta", "otro tema", "nueva pregunta", "nuevo tema", "cambiando de tema", "por cierto"},
	objects: `lo la los las`,
	subject: `se me te nos no yo tú`,
	asking: `cómo qué cuál cuáles quién quiénes cuándo dónde adónde puede puedes podría podrías es son
	hay tiene debo debemos escribe escriba redacta redacte explica explique muestra muestre muéstrame dame dime haz haga lista resume
	busca busque encuentra ayúdame traduce traduzca compara compare calcula calcule describe describa propón crea ` +
		`cuánto cuánta cuántos cuántas`, //nolint:misspell // Spanish
	manners: `por favor hola ahora primero segundo`,
	requests: []string{
		"por qué", "necesito", "necesitamos", "busco", "estoy buscando", "quiero saber", "quisiera saber", "gustaría saber", "saber si",
		"saber cómo", "me pregunto", "me puedes", "me podrías", "puedes decirme",
	},
}
