package speech

import "strings"

// inventions are sentences that Whisper writes on silence and noise, in the form of
// [sentencesOf]. "Yes", "no", "okay" and "bye" are left out: people do say them in less than
// ShortSpeechMS.
//
// Source: openai/whisper discussion 679, and the reports of projects that transcribe with Whisper.
// To add one, write it in lower case and without punctuation.
var inventions = func() map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(inventedSentences) {
		set[strings.TrimSpace(line)] = true
	}
	return set
}()

const inventedSentences = `you
thank you
thank you very much
thank you so much
thanks
thank you for watching
thanks for watching
thank you so much for watching
thank you for listening
thanks for listening
thank you for your attention
thanks for watching and i ll see you in the next video
i ll see you in the next video
i ll see you next time
see you next time
see you in the next video
please subscribe
please subscribe to my channel
please like and subscribe
don t forget to like and subscribe
like and subscribe
subscribe to my channel
the end
subtitles by the amara org community
transcription by castingwords
transcribed by https otter ai
vielen dank
vielen dank fürs zuschauen
danke fürs zuschauen
vielen dank für die aufmerksamkeit
bis zum nächsten mal
untertitel der amara org community
untertitelung des zdf
untertitelung des zdf 2020
untertitel im auftrag des zdf für funk 2017
untertitel von stephanie geiges
copyright wdr 2020
copyright wdr 2021
merci
merci d avoir regardé cette vidéo
merci d avoir regardé
abonnez vous
sous titrage société radio canada
sous titrage st 501
sous titres réalisés par la communauté d amara org
sous titres réalisés para la communauté d amara org
gracias
muchas gracias
gracias por ver el video
gracias por ver
suscríbete
suscríbete al canal
subtítulos realizados por la comunidad de amara org
subtítulos por la comunidad de amara org
grazie
grazie a tutti
grazie per aver guardato il video
grazie per la visione
iscriviti al canale
sottotitoli creati dalla comunità amara org
sottotitoli e revisione a cura di qtss
obrigado
obrigada
obrigado por assistir
inscreva se no canal
legendas pela comunidade amara org
legendas pela comunidade de amara org
bedankt
bedankt voor het kijken
dank u wel
ondertitels ingediend door de amara org gemeenschap
ondertiteld door de amara org gemeenschap
tack
tack för att ni tittade
tack för att du tittade
undertexter från amara org gemenskapen
takk for at du så på
tak fordi du så med
kiitos kun katsoit
dziękuję
dziękuję za uwagę
dziękuję za oglądanie
dzięki za oglądanie
napisy stworzone przez społeczność amara org
děkuji
děkuji za pozornost
děkuji za sledování
titulky vytvořil johnyx
спасибо
спасибо за просмотр
продолжение следует
субтитры сделал dimatorzok
субтитры создавал dimatorzok
редактор субтитров а синецкая корректор а егорова
дякую за перегляд
izlediğiniz için teşekkür ederim
izlediğiniz için teşekkürler
teşekkür ederim
abone olmayı unutmayın
altyazı m k
ご視聴ありがとうございました
ありがとうございました
次の動画でお会いしましょう
おやすみなさい
チャンネル登録お願いします
시청해주셔서 감사합니다
시청해 주셔서 감사합니다
감사합니다
구독과 좋아요 부탁드립니다
mbc 뉴스 이덕영입니다
谢谢观看
谢谢大家
感谢观看
請不吝點贊 訂閱 轉發 打賞支持明鏡與點點欄目
请不吝点赞 订阅 转发 打赏支持明镜与点点栏目
字幕由amara org社区提供
字幕by索兰娅
ترجمة نانسي قنقر
اشتركوا في القناة
شكرا
شكرا للمشاهدة
תודה רבה
תודה שצפיתם`
