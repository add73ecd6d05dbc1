package redact

// moreWords holds the word sets that the patterns of [morePatterns] share.
//
//nolint:misspell // words of other languages
var moreWords = map[string]string{
	"negation": `not never no nicht nie niemals kein keine pas jamais non nunca não`,
	"attack": `attack attacks attacker attackers adversary adversaries adversarial injection injections jailbreak
		jailbreaks exploit exploits payload payloads malicious
		angreifer angriff angriffe einschleusung attaquant attaquants attaque attaques atacante atacantes ataque
		ataques inyección ataccante attaccanti attacco attacchi
		злоумышленник* атак* инъекци* 攻撃 攻撃者 インジェクション 攻击 攻击者 注入 공격 공격자 인젝션`,
	"under": `to may might could would can that which they it tries try and or zu a à de für pour para que qui`,

	// English: verbs on this text, names for it, the verbs that follow.
	"digest": `summarise summarize summarising summarizing translate translating paraphrase paraphrasing process
		processing read reading analyse analyze analysing analyzing
		review reviewing index indexing rewrite rewriting evaluate quote describe describing explain explaining`,
	"page": `document page text article file mail email message content website site note entry record section
		paragraph result output comment review report résumé cv`,
	"act": `insert add mention say state write include recommend tell claim answer respond reply send transfer
		call run execute delete reveal append end begin ask
		forward pay approve praise invoke use output print`,
	"invoke": `call invoke execute trigger run`,

	// German.
	"de-page": `text dokument seite artikel datei mail nachricht inhalt website eintrag abschnitt bericht`,
	"de-digest": `zusammenfasst zusammenfassen zusammenfassung übersetzt übersetzen übersetzung liest lesen
		verarbeitest verarbeiten auswertest analysierst bewertest beschreibst`,
	"de-act": `erwähne erwähnen füge sage sag schreibe schreib empfiehl behaupte nenne lobe antworte sende
		schicke überweise lösche rufe verrate betone ergänze`,
	"de-ai": `ki ai assistent assistenten sprachmodell sprachmodelle modell modelle bot chatbot llm`,
	// French.
	"fr-page":   `document texte page article fichier courriel message contenu site`,
	"fr-digest": `résumes résumez résumeras résumerez traduis traduisez traduiras lis lisez analyses analysez traites traitez`,
	"fr-act": `dis dites mentionne mentionnez ajoute ajoutez écris écrivez insère insérez recommande
		recommandez précise précisez affirme réponds répondez`,
	"fr-ai": `assistant assistants ia llm modèle modèles chatbot`,
	// Spanish.
	"es-page": `documento texto página artículo archivo correo mensaje contenido sitio`,
	"es-digest": `resumas resuma resumes resumir traduzcas traduzca traduces traducir leas lea lees leer analices
		analizar proceses procesar`,
	"es-act": `menciona mencione añade añada di diga escribe escriba incluye incluya recomienda recomiende agrega responde inserta`,
	"es-ai":  `asistente asistentes ia llm modelo modelos chatbot`,
	// Portuguese and Italian.
	"pt-undo":   `ignore ignora ignorem esqueça esquece desconsidere desconsidera descarte`,
	"pt-orders": `instruções regras ordens diretrizes comandos orientações`,
	"pt-before": `anteriores prévias acima precedentes originais`,
	"it-undo":   `ignora ignorate ignori dimentica dimenticate trascura`,
	"it-orders": `istruzioni regole ordini direttive comandi indicazioni`,
	"it-before": `precedenti iniziali sopra originali`,
	"pt-data":   `histórico conversa senha senhas dados chaves segredos mensagens memória`,
	"it-data":   `cronologia conversazione password dati chiavi segreti messaggi memoria`,

	// Russian.
	"ru-undo": `игнорируй игнорируйте игнорировать проигнорируй проигнорируйте забудь забудьте отбрось отбросьте
		отмени отмените отменяй нарушь нарушай`,
	"ru-orders": `инструкци* указани* правил* команд* запрет* ограничени* распоряжени* промпт* установк* директив* наставлени*`,
	"ru-before": `предыдущ* прежни* прежде раньше ранее прошл* выше изначальн* исходн* все всё твои ваши свои системн* данные`,
	"ru-ai":     `ассистент* нейросет* модел* чатбот* бот бота боту ии gpt помощник* llm`,
	"ru-secret": `скрыт* секретн* тайн* невидим*`,
	"ru-note":   `заметк* сообщени* инструкци* указани* записк* примечани* команд* послани*`,
	"ru-digest": `пересказыва* пересказ* резюмир* обобща* перевод* переведешь переводишь суммир* читаешь анализир* обрабатыва* кратко`,
	"ru-page":   `документ* текст* страниц* стать* файл* письм* сообщени*`,
	"ru-this":   `этот эту это этой этого этом этим`,
	"ru-act": `упомяни упомяните добавь добавьте скажи скажите напиши напишите вставь вставьте укажи рекомендуй
		рекомендуйте отвечай ответь похвали сообщи утверждай переведи отправь`,
	"ru-user": `пользовател* клиент* человек* никому`,
	"ru-send": `отправь отправьте перешли перешлите пошли передай передайте загрузи выложи`,
	"ru-data": `истори* переписк* парол* ключ* секрет* разговор* чат* данн* сообщени* диалог* токен*`,

	// Japanese. The past tense reports an attack.
	"ja-past":   `無視した 無視され 忘れた 従った 破棄した`,
	"ja-undo":   `無視して 無視せよ 無視しろ 無視する 無視しなさい 無視し 忘れて 忘れろ 忘れなさい 破棄して 破棄せよ 従わない 従わず 従うな 守らない 取り消して 上書きして`,
	"ja-orders": `指示 命令 ルール 規則 プロンプト 指令 制約 ガイドライン 制限 設定`,
	"ja-before": `以前 これまで 今まで 上記 前の 先ほど 従来 元の 最初 すべて 全て 全部 システム あなた`,
	"ja-ai":     `ai アシスタント 言語モデル モデル ボット チャットボット 人工知能 llm エージェント`,
	"ja-secret": `隠し 隠された 秘密 極秘 見えない 内密`,
	"ja-note":   `メッセージ 注意 注意書き 指示 メモ 命令 連絡 伝言`,
	"ja-page":   `文書 文章 ページ 記事 テキスト ファイル メール サイト 資料 内容 ドキュメント`,
	"ja-digest": `要約 翻訳 処理 読む 読んだ 分析 まとめる 説明 解釈 訳す`,
	"ja-when":   `とき 時 際 場合 なら たら 前 後`,
	"ja-act": `書いて 追加して 言って 述べて 勧めて 勧める 推薦して 含めて 入れて 記載して 答えて 加えて 褒めて 伝えて 付けて 送って 送信して 送金して 表示して 回答して 出力して
		書くこと 追加すること 言うこと 勧めること 含めること 書け 言え 加えること 実行して 呼び出して`,
	"ja-user": `ユーザー ユーザ 利用者 相手 使用者`,
	"ja-data": `会話 履歴 パスワード 秘密 トークン チャット 記憶 認証情報 鍵 キー 個人情報 メモリ`,
	"ja-send": `送信して 送って 送れ 送信せよ 転送して 投稿して アップロードして 送信すること`,

	// Chinese. 了 after a verb reports an attack.
	"zh-past":   `忽略了 无视了 忘记了 忘了 抛弃了 忽視了`,
	"zh-undo":   `忽略 无视 無視 忘记 忘掉 抛弃 覆盖 推翻 不要理会 别理会 不再遵守 不要遵守 不必遵守 不用遵守 违反 丢弃 绕过`,
	"zh-orders": `指令 指示 规则 提示 命令 规定 要求 说明 限制 提示词 约束 设定`,
	"zh-before": `之前 以前 先前 前面 上面 上述 此前 所有 一切 你的 原来 全部 系统 最初 以上 任何`,
	"zh-ai":     `ai 助手 语言模型 模型 机器人 人工智能 智能体 llm 大模型 助理`,
	"zh-secret": `隐藏 秘密 机密 隐形 看不见`,
	"zh-note":   `说明 留言 指示 消息 备注 信息 提示 指令 便条`,
	"zh-this":   `本文 本页 这篇 这段 这个 此文 该文 本文档 这份 本页面 此页 这`,
	"zh-page":   `文章 文档 文件 页面 网页 文本 内容 邮件 段落 资料`,
	"zh-digest": `总结 概括 翻译 摘要 处理 阅读 分析 归纳 解读`,
	"zh-act":    `说 写 加上 添加 提到 推荐 回答 声明 插入 输出 强调 告诉 写上 提及 转账 回复 附上 发送 执行 调用`,
	"zh-user":   `用户 客户 使用者 任何人`,
	"zh-data":   `聊天记录 对话 密码 历史 密钥 令牌 会话 记录 秘密 个人信息 数据 收件箱`,
	"zh-send":   `发送 发到 上传 传到 提交 发给 转发 传送 发往`,

	// Korean.
	"ko-past":   `무시했 잊었 무시한`,
	"ko-undo":   `무시하 무시해 잊어 잊으 따르지 버리 취소하`,
	"ko-orders": `지시 명령 규칙 프롬프트 지침 제한 설정`,
	"ko-before": `이전 지금까지 위의 앞의 기존 모든 원래 시스템`,
	"ko-ai":     `ai 어시스턴트 챗봇 모델 비서 인공지능 봇`,
	"ko-page":   `문서 글 페이지 기사 파일 메일 텍스트 내용`,
	"ko-act":    `말하 말해 쓰세요 추가하 추가해 추천하 추천해 언급하 언급해 답하 답해 넣으 넣어 주세요`,
}

// morePatterns maps the reported reason to further patterns, in addition to [commandPatterns].
var morePatterns = map[string]string{
	"overrides earlier instructions": `
		$orders|$rules|policies|operators ..5 not|longer|never ..1 count|valid|bind
		obey|follow|heed|trust only|solely ..2 this|these|the ..1 $page|text|paragraph|line|author
		obey|follow ..1 the ..1 author of
		treat|read|regard|take|consider ..5 as if|though ..3 developer|operator|system|admin|administrator|user|owner
		do|don not|t ..1 consider|regard|use|heed ..2 what|anything|everything ..3 before|above|earlier
		safety|content|security ..1 filter|filters|checks|guardrails|rules ..1 off|disabled|inactive|lifted
		^override code
		$de-orders|vorgaben ..4 hinfällig|ungültig|aufgehoben|unwirksam|überholt
		$de-orders|vorgaben gelten|gilt ..3 nicht|nimmer
		$fr-orders|consignes ..4 plus valables|valable|valides|valide|cours|vigueur
		$es-orders ..6 no ..1 valen|aplican|cuentan|sirven
		obedece|sigue|siga|obedezca solo|sólo|únicamente ..2 este|esta
		$pt-orders ..6 não ..1 valem|contam|aplicam
		$it-orders ..6 non ..1 valgono|contano
		$ru-orders ..2 больше ..1 не действу*|работа*
		$ru-orders ..2 отменен*|недействительн*|утратил*
		слушайся|слушай|выполняй|следуй только ..2 этого|этому|этот|эти
		$ja-orders ..4 もう|もはや ..8 ない|ません|無効
		$ja-orders は|が ..4 無効|解除
		$ja-orders だけ|のみ に ..2 従って|従いなさい|従え|従うこと
		$zh-orders ..4 失效|作废|无效|不再有效|不再适用|解除|取消
		只|仅 ..1 听从|服从|遵循|遵守 ..2 $zh-this|本段
		$ko-orders ..3 더 ..3 유효|적용
		이 ..1 $ko-page ..1 만 ..2 따르세요|따라
		negeer|vergeet|negeren ..3 instructies|regels|opdrachten|aanwijzingen
		zignoruj|ignoruj|pomiń|zapomnij ..4 instrukcje|polecenia|zasady|wytyczne
		talimat*|kurallar*|komut* ..3 yok|unut|görmezden|boşver
		تجاهل|انس|تجاهلوا ..3 التعليمات|الأوامر|القواعد|تعليماتك
		निर्देशों|निर्देश|नियमों|आदेशों ..4 अनदेखा|नज़रअंदाज़|भूल
		set|put|leave aside|away ..2 everything|anything ..5 system|above|before|told|earlier
		$cancel ..2 $orders|rules ..1 you|that ..2 started|began|got|received|given|have|had
		none of ..3 $orders|$rules ..4 apply|applies|count|matter|hold
		alles was ..3 dir|ihnen ..4 gilt ..4 nicht
		-$fr-past $pt-undo ..3 $pt-orders ..3 $pt-before
		$pt-undo todas|todos ..2 $pt-orders
		$it-undo tutte|tutti|le ..2 $it-orders ..2 $it-before
		$it-undo tutte ..1 $it-orders
		$ru-undo ..3 $ru-before ..2 $ru-orders
		$ru-undo ..2 $ru-orders ..5 $ru-before
		$ru-undo все|всё|всем ..1 что ..4 раньше|ранее|выше|сказано|говорили|написано
		не ..1 следуй|следуйте|соблюдай|соблюдайте|выполняй|слушай ..3 $ru-orders
		не обращай|обращайте внимания ..2 $ru-before ..2 $ru-orders
		$ja-before ..8 $ja-orders ..6 $ja-undo
		$zh-undo ..3 $zh-before ..6 $zh-orders
		$zh-before ..5 $zh-orders ..6 作废|失效|无效|不再有效|不再适用
		按照|遵循|执行 下面|以下 ..2 $zh-orders ..6 $zh-undo
		$ko-before ..6 $ko-orders ..8 $ko-undo
	`,
	"gives a model a role": `
		behave|act|respond ..2 like|as a|an ..2 $bot|$model ..2 that|who|without|with
		je bent|u nu|vanaf|voortaan ..3 een ..3 assistent|ai|bot
		jesteś teraz ..3 asystent*|modelem
		веди себя как ..3 $ru-ai|хакер*
		として ..1 振る舞いなさい|振る舞って|振る舞え|行動して|答えて
		扮演|充当|假装 ..10 $zh-ai|黑客|角色
		from|after this|that ..1 point|moment ..1 on ..3 you|your
		da questo|ora|adesso ..2 sei|devi|rispondi|tu
		sei ..1 un|una ..2 assistente|ia|modello
		a partir de agora ..2 você|tu|responda|responde|vai
		você é|agora ..1 um|uma ..2 assistente|ia|modelo
		теперь|отныне ..1 ты|вы ..4 $ru-ai|хакер*|пират*|не|должен|без|отвечай*
		ты|вы теперь|отныне ..4 $ru-ai|хакер*|пират*|не|должен|без
		с этого момента|дня ..2 ты|вы|твоя|отвечай*
		ты ..2 ассистент* ..1 без|который
		притворись|представь ..3 ты|что
		действуй|веди ..2 как ..2 $ru-ai|хакер*|будто
		системн* сообщени*|инструкци*|команд*|промпт* : ..8 ты|вы|обязан*|должен|должна|игнорируй|выполняй
		あなた|君|お前 は ..2 今から|これから|今|もう ..14 $ja-ai|ハッカー|管理者
		今から|これから あなた|君|お前 は
		システムメッセージ|システムプロンプト|システム指示 :
		你|您 ..1 现在|从现在起|从此|现在起 ..1 是 ..14 $zh-ai|黑客|管理员
		从现在起|从现在开始|今后 ..1 你|您 ..1 是|要|必须|只|不
		扮演 ..8 $zh-ai|黑客|角色
		系统提示|系统消息|系统指令|系统命令 : ..4 你|您|必须|忽略|用户
		너|당신|넌 ..2 이제|지금 ..16 $ko-ai|해커
	`,
	"speaks of a model's instructions": `
		покажи|раскрой|выведи|напечатай|повтори ..3 системн* ..1 промпт*|инструкци*|запрос*
		显示|透露|输出|泄露|重复|告诉 ..4 系统提示|系统提示词|系统指令
		システムプロンプト|初期指示 ..2 表示して|教えて|出力して|明かして|見せて
	`,
	"says how to answer": `
		your ..1 answer|answers|response|responses|summary|reply|recap|report|review ..5 has|have|must|should|` +
		`needs|is to ..1 end|begin|start|say|contain|mention|conclude|close
		in|into|from your ..1 recap|summary|report|review|translation ..6 $act|call|leave|omit
		leave|omit|skip ..5 in|from your ..1 recap|summary|report|review
		in deiner|ihrer zusammenfassung|antwort|übersetzung|bewertung
		dans ton|ta|votre résumé|réponse|traduction
		en tu ..1 resumen|respuesta|traducción ..4 $es-act
		when|if|while|whenever|once|after|before ..4 $digest ..1 this|these ..1 $page ..5 $act
		before you answer|reply|respond|summarise|summarize|continue ..8 run|call|use|execute|send|fetch|open|invoke
		when|whenever|if|once|as somebody|someone|anybody|anyone asks|ask|mentions|says|wants ..8 answer|say|reply|` +
		`respond|claim|recommend|tell
		next time the|a|any|this|your ..1 $whom says|asks|mentions|writes|types|sends|wants
		once|after|when|whenever|if|until the|a|any|this|your ..1 $whom says|mentions|asks|types|writes|thanks|sends ..6 $act
		from|after|in|with|starting|beginning ..1 your|the ..1 first|second|third|fourth|fifth|sixth|tenth|next ` +
		`..1 reply|answer|response|message|turn ..3 $act|every|each|always|never
		in|after ..1 two|three|four|five|six|seven|ten|few|several|some|2|3|4|5|6|7|8|10 turns|messages|replies ..2 $act|from|later
		end|begin|start|finish every|each|all ..2 reply|answer|response|message with
		ask|prompt|request ..1 $whom ..1 for|to ..4 password|passwords|credentials|pin|card|token|tokens
		wenn|falls|sobald|beim ..3 diesen|dieses|diese|dieser|dieses ..1 $de-page ..2 $de-digest ..4 $de-act
		bei|in|vor der ..1 $de-digest dieses|dieser ..1 $de-page ..4 $de-act
		wenn|sobald|falls der|ein|die|eine benutzer|nutzer|anwender|nutzerin ..6 fragt|sagt|erwähnt|schreibt
		quand|si|lorsque|lorsqu ..2 $fr-digest ce|cet|cette|ces ..1 $fr-page ..4 $fr-act
		prochaine fois que|qu ..2 utilisateur|client|usager
		cuando|si|al ..1 $es-digest este|esta|estos ..1 $es-page ..4 $es-act
		próxima vez que ..1 usuario|cliente
		когда|если|при ..2 $ru-digest ..2 $ru-this ..1 $ru-page ..3 $ru-act
		следующий раз когда ..1 $ru-user
		когда|если|как ..2 $ru-user ..1 спросит|скажет|напишет|упомянет|попросит ..6 $ru-act|говори|называй|советуй
		всегда|никогда ..2 отвечай|отвечайте|рекомендуй|рекомендуйте|упоминай|говори
		この|本 ..1 $ja-page ..2 $ja-digest ..4 $ja-when ..24 $ja-act
		次に|今度|次回 ..1 $ja-user ..24 言ったら|言うと|書いたら|入力したら|尋ねたら|聞いたら|質問したら|送ったら
		$ja-user ..12 尋ねたら|聞いたら|質問したら|聞かれたら ..20 $ja-act
		必ず|常に|絶対に ..6 従って|従うこと|勧めて|勧める|推薦して|推奨して
		当|如果|若|在|每当|每次|只要 ..3 $zh-digest ..1 本文|本页|此文|该文|本页面|此页|本文档 ..10 $zh-act
		当|如果|若|在|每当|每次|只要 ..3 $zh-digest ..1 $zh-this ..2 $zh-page ..12 $zh-act
		下次|下一次|等到|当 ..1 $zh-user ..4 说|问|提到|输入|询问 ..10 请|立即|马上|你|必须|就
		务必|一定要|必须 ..2 推荐|回答|服从|提到|夸奖|给出
		이 ..1 $ko-page ..2 요약|번역|읽을|처리 ..4 때|면|경우 ..30 $ko-act
		다음에 ..1 사용자 ..20 면|때
	`,
	"speaks to an AI": `
		liebe|lieber|hallo|achtung ..1 ki|sprachmodell|assistent|chatbot
		chère|cher|attention ..1 ia|assistant|modèle
		querida|querido|estimada|estimado|atención ..1 ia|asistente|modelo
		дорог*|уважаем*|внимание ..1 ии|ассистент*|нейросет*
		must|should|shall|is|to be ..3 rated|approved|praised|recommended|accepted|summarised|summarized ..5 by ` +
		`the|any ..1 $model|model|models
		^hidden|secret|invisible|concealed|covert ..1 note|message|instruction|instructions|comment|text|command :
		hidden|secret|invisible|concealed|covert ..1 note|message|instruction|instructions|comment|command to|for ` +
		`..3 $model|model|models|agent
		note|message|instruction ..1 to|for ..2 language models|model
		versteckt*|geheim*|unsichtbar* hinweis|nachricht|notiz|anweisung|botschaft|anmerkung ..1 an|für ..3 $de-ai
		note|message|instruction|consigne cachée|secrète|secret|caché|invisible ..2 pour|à|destinée|au ..3 $fr-ai
		nota|mensaje|instrucción oculta|secreta|oculto|secreto|invisible ..1 para|al|a ..3 $es-ai
		nota|mensagem|messaggio|istruzione oculta|secreta|nascosta|nascosto|segreta|segreto ..1 para|per ..3 assistente|ia|modelo|modello
		$ru-secret ..1 $ru-note ..1 для|ассистенту|ии ..3 $ru-ai
		$ru-secret ..1 $ru-note :
		если ты ..3 ассистент*|ии|нейросет*|модел*
		$ja-ai ..2 へ|に|への|向け ..3 $ja-secret ..3 $ja-note
		$ja-secret ..3 $ja-note :
		$ja-ai への|へ|宛 ..3 $ja-note|お願い :
		$ja-secret の ..1 $ja-note ..4 $ja-act
		给|致|对 ..2 $zh-ai ..3 $zh-secret ..3 $zh-note
		给|致|对 ..2 $zh-ai ..3 $zh-note :
		$ko-ai ..6 숨겨진|비밀|숨은 ..2 메모|메시지|지시|쪽지
	`,
	"keeps something from the user": `
		not|never ..2 $tell|shown|repeat|repeated|told|disclosed|revealed|mentioned ..2 to ..1 the person|human|user|one|people ..2 you
		ne|n révèle|révélez|dis|dites|montre|mentionne ..2 à personne
		no le|les cuentes|digas|reveles|muestres|menciones ..2 usuario|nadie|cliente
		non dire|dite|rivelare|mostrare|dica ..2 utente|nessuno|cliente
		não ..1 diga|conte|revele|mostre|mencione ..2 usuário|ninguém|utilizador
		ни слова ..2 $ru-user
		$ja-user ..1 に ..4 話さないで|話すな|見せないで|明かさないで
		不要|别|不能|不得|切勿|勿|千万 ..2 让 ..1 $zh-user ..2 知道|看到|发现|察觉
		사용자 ..2 알리지|말하지|보여주지|언급하지
		не ..2 говори|сообщай|рассказывай|упоминай|показывай|говорите|сообщайте ..3 $ru-user
		не ..1 говори|сообщай|рассказывай|упоминай ..1 об|этом|никому
		$ja-user に ..6 言わないで|知らせないで|伝えないで|教えないで|言うな|知らせるな|言わず|知らせず|秘密に|内緒に
		不要|别|不得|切勿|不能|勿 ..1 告诉|告知|通知|提醒|透露 ..2 $zh-user
		사용자 ..2 말하지|알리지|언급하지
	`,
	"writes to a model's memory": `
		今後|これから|以後|今後の|将来 ..4 会話|対話|回答|応答|セッション|やり取り ..20 覚えて|記憶して|守って|従って|覚えること
		以后|今后|未来|将来|之后 ..4 对话|会话|回答|回复|聊天 ..6 记住|遵守|牢记|执行|记得
		记住|牢记|记得 ..16 以后|今后|未来|将来 ..4 对话|会话|回答|回复
		запомни|запомните|запиши|сохрани ..3 для|на ..2 будущ*|дальнейш*|следующ*|всех|последующ*
		запомни|сохрани|запиши ..3 память|памяти|навсегда
		во всех|будущ*|следующ* ..2 ответах|разговор*|диалог*
		retiens|retenez|mémorise|mémorisez|souviens ..2 pour ..4 conversations|réponses|échanges
		merke|merk ..1 dir ..1 für|dass
	`,
	"tells to use a tool": `
		tool ..1 _ ..3 should|must|has|needs|is ..2 triggered|called|invoked|run|executed|used
		tool ..1 _ ..1 _ ..3 should|must|has|needs|is ..2 triggered|called|invoked|run|executed|used
		call|invoke|trigger ..2 tool|plugin ..2 _
		run|execute|call|invoke|use|trigger ..4 _ ..3 tool ..4 every|all|each|without|now|immediately
		$invoke ..4 _ ..4 now|immediately|silently
		$invoke ..4 _ ..4 right|straight away|now
		execute|call|invoke|use|run ..5 tool|function ..6 without asking|confirmation|permission|telling
		continue as if|though nothing
		ruf|rufe|nutze|benutze|verwende|führe|starte ..3 werkzeug|tool|funktion ..2 _
		appelle|appelez|exécute|exécutez|lance|lancez|utilise|utilisez ..2 outil|fonction ..2 _
		utilise|appelle ..2 outil ..4 tous|toutes|chaque
		llama|invoca|ejecuta|usa|utiliza ..3 herramienta|función ..2 _
		chame|use|execute|chama ..2 ferramenta ..2 _
		chiama|usa|esegui ..2 strumento ..2 _
		вызови|вызовите|запусти|используй|примени|выполни ..2 инструмент*
		вызови|запусти|выполни ..2 функци* ..2 _
		немедленно|сейчас|сразу вызови|запусти|выполни|удали
		_ ..3 ツール ..2 呼び出して|実行して|使って|使用して
		今すぐ|直ちに|すぐに ..6 ツール ..2 呼び出して|実行して|使って|使用して
		调用|使用|执行|运行 ..4 _ ..2 工具|函数
		立即|马上|立刻|现在 ..2 调用|执行|运行|使用 ..6 工具|函数
	`,
	"sends data to an address": `
		open|visit|load|fetch|request|get|click ..2 @ ..3 followed|with|plus|adding|including|and ..5 number|` +
		`password|name|key|token|address|$data
		öffne|lade|rufe|besuche ..6 @ ..3 hänge|füge|mit ..6 namen|passwort|daten|schlüssel|nummer|verlauf
		ouvre|ouvrez|charge|visite ..3 @ ..3 ajoutant|avec|suivi ..5 passe|nom|clé|historique|numéro
		abre|visita|carga ..3 @ ..3 añadiendo|con|seguido ..5 contraseña|nombre|clave|historial|número
		stuur|verstuur|zend ..3 wachtwoord|gesprek|geschiedenis|sleutel ..4 naar ..1 @
		put|place|write|encode ..2 everything|all|what ..6 user|conversation|chat ..8 in|into ..4 @
		hänge|füge|häng|setze ..4 passwort|passwörter|gespräch|gesprächsverlauf|verlauf|schlüssel|daten ..3 an|in|zu ..3 link|url|adresse|@
		$ru-send ..2 $ru-data ..5 на|по|в ..2 @
		добавь|прикрепи|вставь|подставь ..3 $ru-data ..5 ссылк*|url|адрес*|@
		$ja-data ..6 @ ..3 $ja-send
		$ja-data ..8 url|リンク|@ ..4 付けて|追加して|含めて|埋め込んで|付与して
		$zh-data ..3 $zh-send ..3 @
		$zh-data ..3 附加|拼接|添加|放 ..4 链接|网址|url|@
		$zh-send ..4 $zh-data ..4 到|至|给 ..2 @
		envie|envia|mande|manda ..3 $pt-data ..4 para ..1 @
		invia|inviate|manda|mandate ..3 $it-data ..5 a ..1 @
		사용자|대화|비밀번호|기록 ..8 @ ..3 보내|전송|업로드
	`,
}
