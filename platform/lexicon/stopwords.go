package lexicon

// Words of nearly every text of a language: they say nothing about what it is about, and much about
// the language. Question words are among them, as questions are asked with them. Changing a list
// changes Version.
const (
	stopsEnglish = `a about after again all also am an and any are aren't as at be because been before being but by can
can't cannot could couldn't did didn't do does doesn't doing don't during each for from further had has hasn't have
haven't having he her here hers him his how i i'd i'll i'm i've if in into is isn't it it's its itself just let's me more
most my no nor not of off on once only or other our ours out over own please same shall she should so some such than that
that's the their theirs them then there these they this those through to too under until up us very was wasn't we we're
were what what's when where which while who whom whose why will with won't would you you're your yours tell`

	stopsGerman = `aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da damit
dann das dass dein deine dem den denn der des dessen die dies diese diesem diesen dieser dieses doch dort du durch ein eine
einem einen einer eines er es etwas euch für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen
ihr ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden jeder jedes jene jetzt kann kein keine keinem keinen keiner
können könnte machen man manche mein meine mich mir mit muss musste nach nicht nichts noch nun nur ob oder ohne sehr sein
seine seinem seinen seiner seit selbst sich sie sind so solche soll sollte sondern sonst über um und uns unser unsere unter
viel vom von vor war waren warst was weg weil weiter welche welchem welchen welcher welches wenn wer werde werden wie wieder
will wir wird wirst wo wollen wurde wurden während würde zu zum zur zwar zwischen wann warum bitte`

	stopsFrench = `a à ai alors après as au aucun aussi autre aux avait avant avec avez avoir avons beaucoup bien c ça car ce
ceci cela celle celui ces cet cette ceux chaque ci comme comment d dans de depuis des deux doit donc dont du elle elles en
encore entre es est et étaient était été être eu eux faire fait font hors ici il ils j je jusque l la là le les leur leurs
lors lui m ma mais me même mes mon moins n ne ni nos notre nous on ont ou où par parce pas peu peut plus pour pourquoi qu
quand que quel quelle quelles quels qui quoi s sa sans se sera ses si son sont sous sur t ta te tes toi ton tous tout toute
toutes très trop tu un une vers voici votre vos vous y afin ainsi`

	stopsSpanish = `a al algo algún alguna algunas algunos ante antes aquel aquella así aun aunque cada como cómo con contra cual
cuál cuando cuándo cuanto de del desde donde dónde durante e el él ella ellas ellos en entre era eran es esa esas ese eso
esos esta está estaba están estas este esto estos fue fueron ha había han hasta hay la las le les lo los más me mi mis mucho
muy nada ni no nos nosotros nuestra nuestro o os otra otras otro otros para pero poco por porque pues puede pueden que qué
quien quién se sea según ser si sí sido sin sobre son su sus también tan te tenía tiene tienen todo todos tu tus un una unas
uno unos usted ustedes y ya yo`

	stopsItalian = `a abbiamo ad agli ai al alla alle allo anche ancora avere aveva c che chi ci co come con contro cosa così cui
d da dagli dai dal dalla dalle dallo degli dei del della delle dello dentro di dopo dove due e è ed era erano essere fa fino
fra già gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me mentre mi mia mie mio molto ne negli nei nel nella
nelle nello no noi non nostra nostro o ogni oppure per perché però più poi prima può qual quale quali quando quanto quella
quelle quelli quello questa queste questi questo qui s se sei senza si sia sono sopra sotto sta stata stato su sua sue sugli
sui sul sulla sulle suo suoi tra tu tua tutti tutto un una uno vi voi`

	stopsPortuguese = `a à ainda alguém algum alguma ao aos aquela aquele aquilo as às assim até cada com como contra da das de
dela dele deles depois desde deve do dos e é ela elas ele eles em entre era eram essa esse esta está estamos estão estas
estava este estes eu foi for foram há isso isto já la lhe lhes mais mas me mesmo meu meus minha muito na nas nem no nos nós
nossa nosso num numa o onde os ou outra outro para pela pelas pelo pelos per pode podem por porque qual quais quando quanto
que quê quem se seja sem ser será seu seus só sob sobre sua suas são também te tem têm tenho ter teu teve tinha toda todas
todo todos tu tua tudo um uma umas uns você vocês`

	stopsDutch = `aan al alle alles als altijd ander andere ben bij daar dan dat de der deze die dit doch doen door dus een eens
en er ge geen geweest had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je jij jouw kan kon kunnen maar
me meer men met mij mijn moet moeten na naar niet niets nog nu of om omdat ons ook op over reeds te tegen toch toen tot u uit
uw van veel voor waar waarom wanneer want waren was wat we wel welke werd wezen wie wij wil worden wordt zal ze zelf zich zij
zijn zo zonder zou`

	stopsSwedish = `all alla allt att av bara bli blir blev da de dem den denna deras dess dessa det detta dig din ditt du där då
efter ej eller en er ert ett från för ha hade han hans har henne hennes hon honom hur här i icke ingen inget inom inte jag ju
kan kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något några och om oss på samma sedan sig sin sina
sitt själv ska skulle som så till under upp ut utan vad var vara varför varit varje vart vem vi vid vilka vilken vilket våra
än är åt över`

	stopsNorwegian = `alle at av bare begge ble blei bli blir da de deg dei deim den denne der dere deres det dette di din disse du
eg ein eit eller elles en enn er et ett etter for fordi fra før ha hadde han hans har henne hennes her hun hva hvem hver
hvilken hvis hvor hvordan hvorfor i ikke ikkje ingen inn ja jeg kan kom korleis kun kunne kva man mange med meg mellom men mi
min mot mye må na ned nei noe noen nå når og også om opp oss over på samme seg selv si sia sin skal skulle slik so som til
under ut uten var ved vi vil ville vite være vår å`

	stopsDanish = `ad af aldrig alle alt anden at bare begge blev blive bliver da de dem den denne der deres det dette dig din dine
disse dog du efter eller en end er et for fordi fra få før ham han hans har havde have hende hendes her hos hun hvad hvem hver
hvilken hvis hvor hvordan hvorfor hvornår i ikke ind ingen intet jeg jer jeres kan kom kunne man mange med meget men mig min
mine mit mod må ned noget nogle nu når og også om op os over på samme sig sin sine sit skal skulle som sådan thi til ud uden
under var ved vi vil ville vor være været`

	stopsFinnish = `ei eivät emme en et ette että he heidän heidät heille heitä hän hänelle hänen hänet häntä itse ja jo joka
jolla jonka jos josta jossa jota jotka joten kaikki kanssa keiden ken kenelle kenen ketkä kuin kuinka kuka kun kuten mihin
mikä miksi mikäli milloin miltä minkä minulla minulle minun minut minä minua missä mistä mitkä mitä mukaan mutta myös ne
niiden niille niin niissä niistä niitä noin nuo nyt näiden nämä näitä ole olemme olen olet olette oli olivat olla on ovat se
sekä sen siihen siinä siitä sillä sille sinulla sinun sinä sitä tai te teidän teitä tuo tuon tähän tällä tämä tämän tässä
tästä tätä vaan vai vaikka voi voidaan yli`

	stopsHungarian = `a abban ahhoz ahogy ahol aki akik akkor alatt amely amelyek ami amíg amikor annak arra arról az azok azon azt
aztán azért be benne bár csak de e egy egyes egyik egyéb el ellen elő először előtt emilyen ennek erre ez ezek ezen ezt ezzel
fel felé ha hanem hiszen hogy hogyan hol ide igen ill illetve ilyen is ismét itt jobban jól kell kellett keresztül ki kivel
között közül le lehet lenne lesz lett ma maga majd meg mellett mert mely mi miért míg mikor milyen mind minden mint mit mivel
most már más másik még nagyon nekem neki nem néha néhány nélkül nincs ő ők őket össze s saját se sem semmi sok során szemben
szerint számára talán te tehát teljes több ugyanis után utána vagy vagyis van vannak való valamint vele vissza volt voltak
volna`

	stopsRomanian = `a acea aceasta această aceea acel acela acele acest acesta aceste acestea acolo acum ai aia al ale alt alta
am ar are as asta astfel au avea aveți aș că căci când care către ce cel cea cei cele ceva chiar ci cine cu cum da dacă dar
de deci decât deja deși din după ea ei el ele era este eu fi fie fiecare fost foarte fără i ia iar în îi îl îmi încă între își
îți la le li lor lui mai mea mei mele meu mi mult mulți ne nici nimic noastră nostru noi nu o ori pe pentru peste poate prin
sa să sale sau se și sunt suntem sub te toate tot toți tu un una unde unei unor unui unul va vă voi vor vreo`

	stopsTurkish = `acaba ama ancak artık aslında az bana bazı belki ben benden beni benim beri bile bir biraz birçok biri birkaç
biz bize bizi bizim bu buna bunda bundan bunlar bunu bunun burada böyle çok çünkü da daha de değil diye dolayı eğer en fakat
gibi göre hangi hatta hem henüz hep hepsi her hiç için içinde ile ilgili ise işte kadar karşı kendi kendine kez ki kim kime
kimse madem mı mi mu mü nasıl ne neden nedenle nerede nereye niye o olan olarak oldu olduğu olması olur ona ondan onlar onu
onun orada oysa pek rağmen sadece sanki sen senin siz sizin sonra şey şimdi şöyle şu tarafından tüm üzere var ve veya ya yani
yine yok zaten`

	stopsRussian = `а без бы был была были было быть в вам вас ваш весь во вот все всего всех всё вы где да даже для до его ее её
если есть еще ещё же за здесь и из или им их к как какая какие какой когда которая которые который кто куда ли либо мне много
может можно мой мочь моя мы на над надо нам нас наш не него нее ней нет неё ни них но ну о об один однако он она они оно от
очень по под после потому почему при про раз с сам свои свой своих себя сейчас со так также такие такой там те тем то того
тоже той только том тот ты у уже хотя чего чей чем через что чтобы чуть эта эти это этого этой этом этот эту я`
)
