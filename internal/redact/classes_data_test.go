package redact_test

// machine holds what is written for programs. Its words are English in every language.
const machine = `
X: V
X=V
X = "V"
X: 'V'
- X: V
"X": "V",
| X | V |
* **X**: V
X -> V
X => V
X := V
`

const chosenValues = `
velvetcrane
marmot77
Winterapfel
kite!barrel
harbourStreet9
pelicanbrunch
moon-ladder
gravy
`

var grids = []grid{
	{
		language: "en",
		floor:    0.01,
		nouns: map[string]string{
			"password": `
password
pw
pwd
router password
password for the wiki
wifi password
login password
VPN password
sudo password
vault password
passcode
wifi key
`,
			"phrase": `
passphrase
wifi passphrase
passphrase of the vault
root password
wallet passphrase
master password
`,
			"pin": `
PIN
card PIN
door code
alarm code
gate code
voicemail PIN
PIN for the tablet
code for the garage
safe combination
entry code
unlock code
backup code
phone passcode
`,
			"key": `
API key
access token
deploy token
client secret
secret key
api token
signing key
license key
token for the bot
auth token
`,
		},
		values: map[string]string{
			"password": chosenValues,
			"phrase": `
seven quiet foxes dance
copper lantern under snow
mango river 44
olive bicycle thunder
`,
			"pin": `
4711
90210
4 8 2 1
four eight one seven
77-12-09
double five nine two
3907#
`,
			"key": `
9f8e7d6c5b4a39281706
Zk9xAb3dEf6hIj9k
a1b2c3d4e5f6a7b8
q7T-x9Lm-44Rz-vK2p
`,
		},
		frames: map[string]string{
			"password": machine + `
the X is V
the X is V.
my X is V, don't tell anyone
Our X is V and it works on all floors
X: V, user: U
The X is "V".
the X (V) is on the note
the X "V" does not work
the X, which is V, expires soon
my X V was rejected
V is the X
V is my X
use V for the X
use V as the X
I set the X to V
I changed the X from V to W
we reset the X to V last night
they rotated the X to V
the X was V until today, now it is W
the X used to be V, now it's W
the X should be V
the new X is V
the X has been changed to V
the X? V
What is the X? V
What's the X?⏎It's V
it's V, the X
try V, that's the X
for the X, type V
if it asks for the X, enter V
enter V when it asks for the X
"V" should work as X
log in as U with X V
sign in with U and the X V
user U, X V
username: U⏎X: V
the user is U and the X is V
the X is⏎V
X:⏎V
the X is currently V
the X is spelled V
the X must be V, I think
I think the X is V but I am not sure
please remember the X: V
Remember that the X is V
note the X V somewhere
he told me that the X is V
just so you know: X = V
the X - V - is old
can you check whether the X V is right?
X is V?
did you know the X is V?
I put V as the X
I typed V as the X
we picked V as our X
let's make the X V
make V the X
set the X to V
change the X to V please
the X equals V
the X will be V from Monday
the X had been V for years
X` + " `V`" + `
the X is ` + "`V`" + `
the X is *V*
the X is: V
the X is, I believe, V
the X reads V
Here is the X: V
here's the X - V
here you go, the X is V
the X is still V, right?
give them the X V and they can go
with the X V I cannot get in
the X has always been V
the X became V
the X turned out to be V
the X we use is V
the X that works is V
the X on the sticker is V
the X of U is V
the X they gave me is V
the X I chose was V
My X: V. Thanks!
`,
			"phrase": `
X: V
X = "V"
the X is V
the X is V.
my X is "V"
the X is V, please keep it
the X: V
"V" is my X
use "V" as the X
I set the X to "V"
I changed the X to V
the new X is V
the X? It's V
the X is⏎V
the X reads V
the X consists of the words V
the X used to be V, now it's W
the X is 'V'
it's "V", the X
the X ("V") was refused
`,
			"pin": `
X: V
X = V
X V
- X: V
| X | V |
the X is V
the X is V.
my X is V, I think
the X (V) changed
the X was V until today, now it is W
I set the X to V
I changed the X from V to W
V is the X
V is my X
use V as the X
use V for the X
my X V was rejected
the X? V
What's the X?⏎V
it's V, the X
enter V, that's the X
the new X is V
"V" should work as X
the X, which is V, expires soon
X` + " `V`" + `
the X is⏎V
the X is V, then press hash
the X is still V
please remember the X V
we changed the X to V
the X has been changed to V
the X is "V"
the X used to be V
Remember: X V
the X they gave me is V
type V when it asks for the X
`,
			"key": machine + `
the X is V
the X is V.
my X is V, don't share it
the X (V) expired
V is the X
use V as the X
use V for the X
I rotated the X to V
I changed the X from V to W
my X V was rejected
the X? V
it's V, the X
the new X is V
"V" should work as X
the X, which is V, expires soon
X` + " `V`" + `
the X is⏎V
the X is "V"
the X was V, now it's W
here is the X: V
set the X to V
try V, that's the X
please remember the X V
the X is still V
`,
		},
	},
	{
		language: "de",
		floor:    0.02,
		nouns: map[string]string{
			"password": `
Passwort
Kennwort
WLAN-Passwort
Passwort für den Router
Router-Kennwort
Masterpasswort
WLAN-Schlüssel
pw
Passwort vom NAS
Losungswort
`,
			"pin": `
PIN
Handy-PIN
Zugangscode
Türcode
Code für die Haustür
Geheimzahl
Code der Alarmanlage
Tresorcode
`,
		},
		values: map[string]string{
			"password": `
Birnensaft
apfelmus77
Nebelhorn!3
lindenblatt
Sternfahrt
mond-leiter
`,
			"pin": `
4711
90210
4 8 2 1
vier acht eins sieben
7712
`,
		},
		frames: map[string]string{
			"password": machine + `
das X ist V
das X ist V.
mein X ist V, sag es keinem
Das X lautet V und gilt überall
das X heißt V
das X (V) ist alt
das X "V" geht nicht
das X „V“ geht nicht
das X, V, wurde abgelehnt
mein X V wurde abgelehnt
V ist das X
V ist mein X
nimm V als X
V als X geht
ich habe das X auf V gesetzt
ich hab das X von V auf W geändert
wir haben das X auf V zurückgesetzt
das X war bis heute V, jetzt ist es W
das X war V, jetzt W
das neue X ist V
das X wurde auf V geändert
das X? V
Wie ist das X? V
Wie lautet das X?⏎V
es ist V, das X
probier V, das ist das X
melde dich als U mit X V an
Benutzer U, X V
Benutzer: U⏎X: V
der Benutzer ist U und das X V
das X ist⏎V
das X ist noch V
das X müsste V sein
das X sollte V sein
ich glaube, das X ist V
merk dir das X: V
merk dir, dass das X V ist
merk dir das X V
weil das X V ist
mit dem X V komme ich nicht rein
gib V ein, wenn nach dem X gefragt wird
als X haben wir V
als X nehmen wir V
stell das X auf V um
ändere das X bitte auf V
X ist V
ist V das X?
das X ist seit gestern V
X lautet: V
`,
			"pin": `
X: V
X = V
X V
die X ist V
die X ist V.
meine X ist V, glaube ich
die X lautet V
V ist die X
V ist meine X
nimm V als X
ich habe die X auf V gesetzt
ich hab die X von V auf W geändert
die X war V, jetzt ist sie W
die neue X ist V
die X? V
Wie lautet die X?⏎V
die X ist⏎V
die X (V) ist alt
meine X V wurde abgelehnt
merk dir die X: V
weil die X V ist
die X wurde auf V geändert
es ist V, die X
`,
		},
	},
	{
		language: "fr",
		floor:    0.02,
		nouns: map[string]string{
			"password": `
mot de passe
mdp
mot de passe du wifi
mot de passe admin
mdp du NAS
code wifi
mot de passe de la base
`,
			"pin": `
code PIN
code d'accès
code de la porte
code du portail
code secret
code de l'alarme
`,
		},
		values: map[string]string{
			"password": `
girafebleue
tortue77
Rivage!4
libellule
Coquelicot
lune-rouge
`,
			"pin": `
4711
90210
4 8 2 1
quatre un deux six
47B12
`,
		},
		frames: map[string]string{
			"password": machine + `
X : V
le X est V
le X est V.
mon X est V, ne le dis à personne
le X c'est V
le X, c'est V
le X (V) est ancien
le X "V" ne marche pas
le X « V » ne marche pas
mon X V a été refusé
V est le X
V est mon X
c'est V, le X
c'est V le X
utilise V comme X
mets V comme X
j'ai mis V comme X
j'ai changé le X en V
j'ai changé le X de V à W
le X était V, maintenant c'est W
le nouveau X est V
le X a été changé en V
le X ? V
Quel est le X ? V
C'est quoi le X ?⏎V
connecte-toi avec U et le X V
utilisateur U, X V
utilisateur : U⏎X : V
l'utilisateur est U et le X est V
le X est⏎V
le X est toujours V
le X devrait être V
je crois que le X est V
retiens le X : V
retiens que le X est V
essaie V, c'est le X
avec le X V je n'entre pas
le X sera V dès lundi
pour le X, tape V
tape V quand il demande le X
`,
			"pin": `
X : V
X V
le X est V
le X est V.
le X est le V
mon X est V, je crois
le X c'est V
V est le X
c'est V, le X
utilise V comme X
j'ai changé le X en V
le X était V, maintenant c'est W
le nouveau X est V
le X ? V
Quel est le X ?⏎V
le X est⏎V
le X (V) est ancien
mon X V a été refusé
retiens le X : V
`,
		},
	},
	{
		language: "es",
		floor:    0.01,
		nouns: map[string]string{
			"password": `
contraseña
clave
contraseña del wifi
clave del wifi
contraseña de admin
clave del servidor
clave de acceso
`,
			"pin": `
PIN
código de acceso
código de la puerta
código de la alarma
PIN de la tarjeta
código secreto
`,
		},
		values: map[string]string{
			"password": `
pulpofeliz
almendro77
Cangrejo!4
girasol
Membrillo
luna-roja
`,
			"pin": `
4711
90210
4 8 2 1
cinco cero tres nueve
7712
`,
		},
		frames: map[string]string{
			"password": machine + `
la X es V
la X es V.
mi X es V, no se lo digas a nadie
la X (V) es vieja
la X "V" no funciona
la X «V» no funciona
mi X V fue rechazada
V es la X
V es mi X
es V, la X
usa V como X
pon V como X
puse V como X
cambié la X a V
cambié la X de V a W
la X era V, ahora es W
la nueva X es V
la X ha sido cambiada a V
¿la X? V
¿Cuál es la X? V
¿Cuál es la X?⏎V
entra con U y la X V
usuario U, X V
usuario: U⏎X: V
el usuario es U y la X es V
la X es⏎V
la X sigue siendo V
la X debería ser V
creo que la X es V
recuerda la X: V
recuerda que la X es V
prueba V, es la X
con la X V no puedo entrar
la X será V desde el lunes
escribe V cuando pida la X
`,
			"pin": `
X: V
X V
el X es V
el X es V.
el X es el V
mi X es V, creo
V es el X
es V, el X
usa V como X
cambié el X a V
el X era V, ahora es W
el nuevo X es V
¿el X? V
¿Cuál es el X?⏎V
el X es⏎V
el X (V) es viejo
mi X V fue rechazado
recuerda el X: V
`,
		},
	},
	{
		language: "formats",
		floor:    0.06,
		nouns:    map[string]string{"line": "password"},
		values:   map[string]string{"line": chosenValues},
		frames: map[string]string{"line": `
machine db.example login U password V
db.example:5432:shop:U:V
CREATE USER U IDENTIFIED BY 'V';
CREATE USER U IDENTIFIED BY "V";
CREATE USER U IDENTIFIED BY V;
ALTER USER U WITH PASSWORD 'V';
ALTER ROLE U PASSWORD 'V';
SET PASSWORD FOR 'U'@'%' = 'V';
SET PASSWORD = PASSWORD('V');
Server=sql7;User Id=U;Password=V;
Server=sql7;Uid=U;Pwd=V;
host=db user=U password=V dbname=shop
postgres://U:V@db:5432/shop
redis://:V@cache:6379
jdbc:mysql://db/shop?user=U&password=V
net use Z: \\nas\share V /user:U
net use Z: \\nas\share /user:U V
net user U V /add
htpasswd -b /etc/htpasswd U V
htpasswd -nb U V
smbclient //nas/share -U U%V
openssl enc -aes-256-cbc -passin pass:V -in a
openssl rsa -passout pass:V
zip -P V a.zip b
unzip -P V a.zip
7z x a.7z -pV
gpg --batch --passphrase V -d a.gpg
gpg --passphrase "V" -c a
docker login -u U -p V registry.example
docker login -u U --password V
podman login -u U -p V
sshpass -p V ssh U@host
sshpass -pV ssh U@host
ldapsearch -D cn=admin -w V -b dc=x
ldapsearch -x -D cn=admin -wV
mysql -u U -pV shop
mysqldump --password=V shop
PGPASSWORD=V psql -U U
MYSQL_PWD=V mysql
curl -u U:V https://x.example
curl --user "U:V" https://x.example
curl -d "user=U&password=V" https://x.example
curl -d '{"password":"V"}' https://x.example
wget --password=V --user=U https://x.example
ConvertTo-SecureString "V" -AsPlainText -Force
ConvertTo-SecureString -String "V" -AsPlainText -Force
$pw = ConvertTo-SecureString 'V' -AsPlainText -Force
New-Object PSCredential("U", (ConvertTo-SecureString "V" -AsPlainText -Force))
spring.datasource.password=V
db.password = V
password = "V"
db_password = "V"
admin_password = "V" # terraform
variable "db_password" { default = "V" }
export DB_PASSWORD=V
set DB_PASSWORD=V
$env:DB_PASSWORD = "V"
setx DB_PASSWORD V
ENV DB_PASSWORD V
docker run -e DB_PASSWORD=V img
echo V | sudo -S apt update
echo "V" | docker login -u U --password-stdin
echo 'U:V' | chpasswd
echo "V" | passwd --stdin U
printf 'V' | docker login --password-stdin
kinit U <<< V
gh secret set DB_PASSWORD --body "V"
gh secret set DB_PASSWORD -b V
kubectl create secret generic db --from-literal=password=V
helm upgrade app --set db.password=V
aws rds modify-db-instance --master-user-password V
az login -u U -p V
vault kv put secret/db password=V
vault login -method=userpass username=U password=V
ansible_password: V
ansible_ssh_pass=V
ansible-playbook -e "ansible_become_pass=V"
redis-cli -a V ping
requirepass V
AUTH V
mongosh -u U -p V
mongodump -u U -p V --db x
rclone config create nas smb user U pass V
cryptsetup luksFormat --key-file - <<< "V"
xfreerdp /u:U /p:V /v:host
rdesktop -u U -p V host
psexec \\host -u U -p V cmd
winrs -r:host -u:U -p:V cmd
schtasks /create /ru U /rp V
ftp -u U,V host
lftp -u U,V ftp.example
keytool -storepass V -list
jarsigner -keypass V a.jar
snmpget -v3 -u U -A V host
nmcli dev wifi connect Home password V
wpa_passphrase Home V
psk="V"
wpa-psk V
netsh wlan set profileparameter keyMaterial=V
<password>V</password>
<property name="password" value="V"/>
<add key="Password" value="V"/>
<input type="password" value="V">
{"user": "U", "pass": "V"}
{user: "U", password: "V"}
{'user': 'U', 'password': 'V'}
auth=("U", "V")
auth: { username: "U", password: "V" }
connect("db", "U", password="V")
password => "V",
'password' => 'V',
"password" => "V"
define('DB_PASSWORD', 'V');
os.environ["DB_PASSWORD"] = "V"
env: DB_PASSWORD: V
password: "V" # yaml
  password: V
password: |⏎  V
_password: V
user U⏎password V
enable secret V
enable password V
username U password V
username U secret V
set system root-authentication plain-text-password V
-password V
--db-pass V
--db-pass=V
--pass V
/password:V
`},
	},
}

// harmlessGrids holds frames that name a secret X without its value.
var harmlessGrids = []struct{ nouns, frames string }{
	{nouns: `
password
passphrase
PIN
API key
token
passcode
login password
door code
wifi password
secret key
alarm code
pw
`, frames: `
the X is expired
the X is broken
the X is too short
my X is too short
I forgot the X
I need to change my X soon
the X was rejected
the X was rejected by the server
the X is stored in the vault
the X is on the fridge
the X has to be long
the X must not be shared
the X does not work
is the X still valid?
where is the X?
what is the X?
What's the X?⏎I don't know.
What is the X?⏎No idea, ask Tom
how do I reset the X?
please rotate the X every month
we rotated the X yesterday
they changed the X last night
I changed the X again
set the X to something long
set the X to a long random value
change the X to another one
the X should be changed
the X should be at least twelve characters
never share your X
use a different X for each site
use another site for the X
use the settings page for the X
use this form for the X
enter the X when it asks
if it asks for the X, call me
for the X, ask Petra
for the X, see the wiki
the X (see below) expired
the X (optional) is ignored
the X, which is old, expires soon
the X, of course, is secret
the X? No idea.
the X? I forgot it.
the X? Ask Lena.
it's late, the X can wait
it's wrong, the X
it's fine, the X works
try again, that's the X prompt
nobody is the owner of the X
that is the X
this is my X
security is the X problem
Lena has the X
the X was fine until today, now it is refused
the X used to be simple, now it's awful
the X is the same as before
the X is whatever you set
let's make the X longer
make sure the X is right
make the X stronger
the X has been changed to a better one
with the X I cannot get in
with the right X it works
log in with your X
sign in with your name and the X
user and X are required
username: required⏎X: required
the X page is slow
the X of the old server is gone
the X they gave me is wrong
the X that works is on the note
the X on the sticker is faded
I think the X is wrong but I am not sure
remember to change the X
please remember the X
give them the X and they can go
the X equals the old one
the X will be renewed on Monday
the X is unknown
the X is "required"
the X is called differently there
the X column is empty
X: see the wiki
X: (none)
X = None
X:
- X: required
| X | required |
| X | description |
X -> hash
X expired
X missing
X required
X? 
Enter X:
the X is for guests
the X is in my notes
we share one X
everyone knows the X
the X is not what you think
the X is case sensitive
he typed the X twice
she wrote the X on paper
the X comes by mail
the X came with the router
the X is printed on the box
can you check whether the X is right?
the X has always been a problem
the X became a nuisance
the X turned out to be wrong
`},
	{nouns: `
Passwort
Kennwort
WLAN-Passwort
Zugangscode
`, frames: `
das X ist abgelaufen
das X ist zu kurz
mein X ist weg
ich habe das X vergessen
das X hängt am Kühlschrank
das X muss lang sein
das X wurde geändert
das X wurde gestern geändert
wir haben das X zurückgesetzt
ich ändere das X morgen
wie lautet das X?
Wie lautet das X?⏎Keine Ahnung.
das X? Weiß ich nicht.
das X, das alte, geht nicht
das X ist dasselbe wie früher
nimm ein anderes X
gib das X ein
gib nichts ein, wenn nach dem X gefragt wird
das ist das X
mit dem X komme ich nicht rein
merk dir das X
das X ist noch gültig
das X müsste geändert werden
das X sollte länger sein
X: siehe Wiki
X fehlt
X falsch
das X war gestern noch richtig, jetzt ist es falsch
als X haben wir nichts
als X geht alles
es ist spät, das X kann warten
stell das X um
`},
	{nouns: `
mot de passe
mdp
code secret
code d'accès
`, frames: `
le X est expiré
le X est trop court
j'ai oublié le X
le X est sur le frigo
le X doit être long
le X a été changé hier
j'ai changé le X
quel est le X ?
Quel est le X ?⏎Je ne sais pas.
le X ? Aucune idée.
c'est le X
c'est faux, le X
c'est tard, le X peut attendre
utilise un autre X
avec le X je n'entre pas
retiens le X
le X devrait être changé
le X était bon, maintenant c'est faux
X : voir le wiki
X manquant
le X est toujours valable
pour le X, demande à Luc
tape ton nom quand il demande le X
`},
	{nouns: `
contraseña
clave
clave de acceso
`, frames: `
la X está caducada
la X es muy corta
olvidé la X
la X está en la nevera
la X debe ser larga
la X fue cambiada ayer
cambié la X
cambié la X ayer
¿cuál es la X?
¿Cuál es la X?⏎No sé.
¿la X? Ni idea.
es la X
es tarde, la X puede esperar
usa otra X
con la X no puedo entrar
recuerda la X
la X debería ser más larga
la X era buena, ahora es mala
X: ver la wiki
la X sigue siendo válida
es mejor, la X funciona
`},
	{nouns: "code", frames: `
the code is broken
the code is here
key point is that we ship
the key is to listen
the pass is closed in winter
the ski pass is valid until April
the token is a string
token, err := next()
the bus token is round
a pin is a small needle
pin the version to 3.2
the secret is patience
the secret of a good dough is time
combination of both is best
the combination is unusual
pass the salt
pass it to the function
password := os.Getenv("DB_PASSWORD")
password = getpass.getpass("Password: ")
token = request.headers["Authorization"]
const key = await loadKey(id)
password: {{ vault_password }}
password: ${{ secrets.DB_PASSWORD }}
DB_PASSWORD=$(cat /run/secrets/db)
export TOKEN="$1"
curl -u "$USER:$PASS" https://x.example
docker login -u U --password-stdin
htpasswd -c /etc/htpasswd ada
net user ada /delete
net use Z: \\nas\share
zip -r a.zip dir
echo done | tee log
echo "$PW" | sudo -S ls
ConvertTo-SecureString $pw -AsPlainText -Force
ALTER USER ada WITH PASSWORD NULL;
CREATE USER ada IDENTIFIED BY $1;
IDENTIFIED BY the police
gpg --passphrase-fd 0 -d a.gpg
openssl rsa -passin env:PW
openssl rsa -passin file:pw.txt
gh secret set DB_PASSWORD < pw.txt
gh secret list
aws rds modify-db-instance --manage-master-user-password
requirepass is a directive of Redis
enable secret scanning for the repo
username and password
username or password incorrect
ssh ada@host
az login --use-device-code
the recipe: a secret ingredient, cinnamon, and time
the password field, empty, was sent
try Linux, that's the answer
use foil for the tray
use pytest for the tests
it's Monday, the deadline
Paris is the capital
Lena is the key person
Gold is the code name of the project
bind 10.0.0.1:6379:db:user:group
the user is mkeller and the role is admin
log in as mkeller with sudo
log in with Chrome
he said the code: it compiles
session token lifetime: 3600
the token bucket holds 100
password hashing: argon2id
the password min length is 12
code review is at 3
code: 200
error code: 1045
zip code is 94103
country code is 4711
the postal code is 90210
`},
}
