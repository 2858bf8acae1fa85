# Was Helix Menschen sagt, auf Deutsch: in der Du-Form, wie der Consultant spricht. docs/development.md sagt, wie eine Sprache dazukommt.

language-words = der die das und ich du nicht ist ein eine einen einem einer bitte wie mit auf für von zu den dem des sind wird werden kann kannst könnte soll sollte muss mir mich dir dich wir ihr uns sich auch noch schon nur aber oder wenn weil dass warum welche welcher welches wo wann wer ja nein danke hallo mach mache baue erstelle schreibe zeig zeige erkläre gib nimm füge hinzu weiter jetzt dann hier dort über nach beim vom zum zur im es sie habe hast haben hatte mein meine meinen dein deine alle alles als aus bei bis doch etwas läuft geht gibt diese dieser dieses

### Zahlen

decimal-mark = ,
# In US-Dollar.
money = { $amount } $
time-at = um { $clock } Uhr
time-on = am { $day }.{ $month }.{ $year } um { $clock } Uhr
time-in-minutes =
    in { $minutes } { $minutes ->
        [one] Minute
       *[other] Minuten
    }, { $at }
time-in-hours =
    in { $hours } { $hours ->
        [one] Stunde
       *[other] Stunden
    }, { $at }
time-in-days =
    in { $days } { $days ->
        [one] Tag
       *[other] Tagen
    }, { $at }
count-phases =
    { $phases ->
        [one] { $phases } Phase
       *[other] { $phases } Phasen
    }
count-files =
    { $files ->
        [0] keine Datei
        [one] { $files } Datei
       *[other] { $files } Dateien
    }
count-tools =
    { $tools ->
        [one] { $tools } Werkzeug
       *[other] { $tools } Werkzeuge
    }
count-findings =
    { $findings ->
        [one] { $findings } Befund
       *[other] { $findings } Befunde
    }
and-more = und { $more } weitere
hint = Tipp: { $hint }
note = Hinweis: { $note }
fix = Abhilfe: { $fix }

### Zustände

job-status =
    { $status ->
        [queued] eingereiht
        [running] läuft
        [waiting] wartet
        [succeeded] erfolgreich
        [failed] gescheitert
        [cancelled] abgebrochen
       *[other] { $status }
    }
phase-status =
    { $status ->
        [pending] offen
        [running] läuft
        [waiting] wartet
        [passed] bestanden
        [failed] gescheitert
        [skipped] ausgelassen
        [cancelled] abgebrochen
       *[other] { $status }
    }
delivery-delivering = wird ausgeliefert
delivery-watching = wird nach der Auslieferung beobachtet
delivery-delivered = ausgeliefert
delivery-failed = gescheitert
delivery-unknown = unbekannt
delivery-rolling-back = wird zurückgenommen
delivery-rolled-back = zurückgenommen
delivery-rollback-unproved = Rücknahme nicht belegt
delivery-rollback-failed = Rücknahme gescheitert
phase-stage =
    { $stage ->
        [agent] Agent arbeitet
        [commit] Commit
        [new-phases] neue Phasen
        [reviewer] Prüfer
        [verifier] Prüfer
        [health] Beobachtung
        [rollback] Rücknahme
        [waits-for-your-answer] wartet auf deine Antwort (`helix answer`)
        [next-try] nächster Versuch
       *[other] { $stage }
    }
phase-stage-gate = Gate { $gate }
phase-stage-adviser = Ratgeber, Runde { $round }
phase-stage-until = wartet bis zum { $until }
verdict =
    { $verdict ->
        [pass] bestanden
        [fail] nicht bestanden
       *[inconclusive] ohne Ergebnis
    }
review =
    { $verdict ->
        [pass] angenommen
        [fail] abgelehnt
       *[inconclusive] keine brauchbare Antwort
    }
reviewer =
    { $who ->
       *[other] Prüfer
    }
wait-places =
    wartet auf einen Platz: { $taken } von { $places } { $of ->
        [agents] Agenten
        [gates] Gates
       *[other] { $of }
    } { $taken ->
        [one] läuft
       *[other] laufen
    }, { $waiting } { $waiting ->
        [one] wartet
       *[other] warten
    }
wait-target = wartet auf Job { $job }, der nach { $target } ausliefert
wait-target-elsewhere = wartet auf Job { $job } des Zustandsverzeichnisses { $place }, der nach { $target } ausliefert
wait-memory = wartet auf Speicher: { $available } MiB frei, { $needed } MiB nötig
wait-preflight = Vorprüfung: probiert `{ $command }` auf dem Ausgangs-Commit

### Wie der Lauf eines Agenten in einem Job endete

run-completed = er wurde fertig
run-denials =
    er wurde fertig, { $denials } { $denials ->
        [one] Werkzeugaufruf wurde
       *[other] Werkzeugaufrufe wurden
    } verweigert
run-tasks-lost =
    { $tasks } { $tasks ->
        [one] Hintergrundaufgabe ging
       *[other] Hintergrundaufgaben gingen
    } verloren
    .hint = { run-read-log }
run-local-command = es lief nur ein lokaler Befehl; das Modell wurde nicht gefragt
    .hint = { run-read-log }
run-truncated = seine Antwort wurde abgeschnitten ({ $evidence })
    .hint = { run-read-log }
run-no-record = der Agent hat keinen Ergebnissatz ausgegeben
    .hint = lass ihn als letzte Zeile `{"{"}"helix":"result",…{"}"}` ausgeben (docs/agents.md, „Any command“) oder setze für ihn `trust_exit = true` in helix.toml
run-incomplete = am Ende fehlte { $missing }
    .hint = { run-read-log }
run-stopped-by-hook = ein Hook hat ihn angehalten
    .hint = { run-read-log }
run-interrupted = er wurde von außen unterbrochen
    .hint = { run-read-log }
run-cancelled = er wurde abgebrochen
run-timed-out = seine Zeit ist abgelaufen
    .hint = erhöhe `timeout` der Phase oder teile sie auf, dann mach weiter mit `helix jobs resume { $job }`
run-stalled = er hat sich zu lange nicht gemeldet
    .hint = { run-read-log }
run-stuck = er wurde angehalten: { $tool } schlug { $times }-mal auf dieselbe Weise fehl, ohne dass sich dazwischen etwas änderte: { $input }
    .hint = { run-read-log }
run-stuck-somehow = er wurde angehalten: er wiederholte einen Aufruf, der jedes Mal auf dieselbe Weise fehlschlug
    .hint = { run-read-log }
run-lost = sein Aufsichtsprozess wurde unerwartet beendet
    .hint = { run-read-log }
run-limited-until = das Limit des Anbieters ist bis zum { $at } erreicht
    .hint = { run-provider-trouble }
run-limited = das Limit des Anbieters ist erreicht
    .hint = { run-provider-trouble }
run-overloaded = der Anbieter meldete einen Fehler: HTTP { $status }
    .hint = { run-provider-trouble }
run-unreachable = die Verbindung zum Anbieter ist gescheitert
    .hint = { run-provider-trouble }
run-no-money = das Guthaben beim Anbieter ist aufgebraucht
    .hint = lade das Konto beim Anbieter auf, dann mach weiter mit `helix jobs resume { $job }`
run-credentials = der Anbieter nimmt die Zugangsdaten nicht an
    .hint = melde dich mit dem Programm des Agenten an oder trage seinen API-Schlüssel in helix.toml ein, dann führe `helix doctor` aus
run-context = die Sitzung passt nicht in den Kontext des Modells
    .hint = teile die Phase auf oder gib ihr weniger und kleinere Dateien, dann mach weiter mit `helix jobs resume { $job }`
run-max-turns = sein Limit an Schritten ist erreicht
    .hint = erhöhe `max_turns` der Phase oder teile sie auf, dann mach weiter mit `helix jobs resume { $job }`
run-max-budget = sein Budget ist verbraucht
    .hint = erhöhe `budget_usd` der Phase oder teile sie auf, dann mach weiter mit `helix jobs resume { $job }`
run-no-form = keine seiner Antworten hatte die verlangte Form
    .hint = { run-read-log }
run-refused = das Modell hat abgelehnt
    .hint = formuliere die Beschreibung der Phase um, dann mach weiter mit `helix jobs resume { $job }`
run-unstarted = der Agent kam nicht zum Arbeiten: { $reason }
    .hint = { run-doctor }
run-misconfigured = der Agent kann so, wie er eingerichtet ist, nicht arbeiten
    .hint = { run-doctor }
run-declared = der Agent meldet: { $message }
    .hint = { run-read-log }
run-no-model = der Agent meldet: { $message }
    .hint = wähle ein Modell, das der Anbieter hat, im Plan oder für den Agenten in helix.toml, dann führe `helix jobs resume { $job }` aus
run-bad-request = der Agent meldet: { $message }
    .hint = der Anbieter lehnt diese Anfrage immer ab: prüfe Modell und Einstellungen des Agenten in helix.toml und die Größe seines Prompts, dann führe `helix jobs resume { $job }` aus
run-too-large = der Agent meldet: { $message }
    .hint = { run-context.hint }
run-contradicted = seine Aufzeichnung widerspricht sich: { $evidence }
    .hint = { run-read-log }
run-read-log = lies das Log des Laufs (`helix jobs logs { $job }`), dann mach weiter mit `helix jobs resume { $job }`

# What shows that a run's record is not whole.
run-cut-output = er hat mehr als 256 MiB ausgegeben und wurde gestoppt
run-cut-memory = er hat mehr Speicher belegt, als ein Lauf darf, und wurde gestoppt
run-cut-unread = seine Ausgabe wurde nicht bis zum Ende gelesen
run-cut-line = die letzte Zeile seiner Ausgabe ist nicht vollständig
run-cut-long-lines = Zeilen von mehr als 32 MiB, deren Rest wegfiel: { $lines }
run-cut-no-records = Zeilen, die keine Datensätze sind: { $lines }
run-cut-exited = der letzte Datensatz fehlt: er endete mit Status { $code }
run-cut-signal = der letzte Datensatz fehlt: Signal { $signal } hat ihn beendet
run-cut-no-end = der letzte Datensatz fehlt
run-cut-went-on = er hat nach seinem letzten Datensatz weitergemacht
run-says-no-usage = ein Erfolg, der keinen Verbrauch eines Modells nennt
run-says-stop = ein Erfolg mit dem Haltegrund { $reason }
# What contradicts a record of success.
run-says-kind = ein Datensatz der Art { $kind }, der nicht als Fehler markiert ist
run-says-reason = ein Erfolg mit dem Endgrund { $reason }
run-says-status = ein Erfolg, und HTTP-Status { $status }
run-says-exit = ein Erfolg, und Exit-Status { $code }
run-says-signal = ein Erfolg, und beendet durch Signal { $signal }
# What was asked for and is not there.
run-lacks-output = die verlangte strukturierte Ausgabe
run-lacks-answer = eine Antwort (das Ergebnis im Ergebnissatz ist leer)

# Why a program did not start.
run-silent-exit = er endete mit Status { $code } und sagte nichts
start-failed = { $program } kann nicht gestartet werden: { $why }
start-stopped = er wurde gestoppt, bevor er begann
start-no-program = kein Programm ist genannt
start-no-directory = sein Arbeitsverzeichnis { $path } gibt es nicht
start-not-in-path = nicht gefunden in PATH ({ $search })
start-missing = { $file } gibt es nicht
start-not-executable = { $file } ist keine ausführbare Datei
start-no-interpreter = { $error }: die Datei gibt es, also fehlt der Interpreter, den ihre erste Zeile nennt (oder ihr Lader)
start-closed = { $error }: die Datei ist nicht ausführbar, oder ein Verzeichnis darüber ist verschlossen
start-too-long = { $error }: Argumente und Umgebung sind zusammen zu groß; Prompts gehen über stdin
start-hidden = die Sandbox verbirgt { $file } oder etwas, was sie braucht: nimm das Verzeichnis davon in `readable` unter [sandbox] auf
start-no-sandbox = seine Sandbox kann nicht aufgebaut werden: { $error }
start-sandbox-required = die Sandbox ist verlangt: { $missing }
run-doctor = führe `helix doctor` aus: es prüft den Agenten
run-provider-trouble = mach später weiter mit `helix jobs resume { $job }`

# Wie ein Ergebnis entstand, und was ihm fehlt.
repair-nested = { $path } war ein eigenes Repository; seine Dateien sind im Ergebnis, seine Historie nicht
repair-worktree-gone = der Worktree war weg; was nicht schon committet war, ist verloren
repair-unreadable = einige Dateien waren nicht lesbar und fehlen: { $files }
repair-name = der Name von { $path } ist nicht in UTF-8
repair-unfiltered = Helix führt keine Filter von git aus; committet wurde, was auf dem Datenträger steht: { $files }
repair-watched = geändert, während der Agent arbeitete, aber nicht von diesem Host: { $changes }
watched-branch = Branch { $branch } (von { $old } auf { $new })
watched-file = { $name } des Repositorys
watched-more = { $more } weitere

### Was mit einem Job geschieht

job-submitted = Job { $id }: { $name }, { count-phases }, in { $place }
job-attempt = Agent arbeitet, Versuch { $attempt }
job-attempt-again = Agent arbeitet, Versuch { $attempt } ({ $why })
job-agent-finished = Agent fertig nach { $time }, { $cost }
job-agent-ended = Agent: { $what } ({ $time }, { $cost })
job-committed = Commit { $commit }, { count-files } geändert
job-unchanged = keine Datei geändert
job-delivering = liefert { $tree } aus
job-delivering-gate = { $gate } von { $phase } hat damit bestanden
job-healthy = die Gesundheitsprüfung ist bestanden
job-rolling-back = nimmt die Auslieferung zurück
job-rolled-back = Auslieferung zurückgenommen
job-rollback-requested = Auslieferung wird zurückgenommen, auf Wunsch von { $by }
job-adds-phases = fügt Phasen hinzu: { $phases }
job-phases-invalid = hinzugefügte Phasen sind ungültig: { $why }
job-asks = fragt: { $question }
job-answered = beantwortet von { $by }: { $answer }
job-question-expired = Frage { $number } ist ohne Antwort abgelaufen
job-adviser = Ratgeber: { $reason }
job-conflict = Konflikt zwischen { $phases } in { $paths }
job-merged = als { $commit } in { $branch } übernommen
job-on-branch = NICHT übernommen: das Ergebnis liegt nur auf dem Branch { $branch } ({ $why })
job-nothing-changed = nichts geändert
job-merge-failed = Übernahme gescheitert: { $why }
job-cancelling = wird abgebrochen, auf Wunsch von { $by }
job-plan-changed = der Plan wurde seitdem geändert: Phasen { $phases } gelten so, wie sie jetzt sind
job-resumed = fortgesetzt von { $by }
job-succeeded = Job erfolgreich
job-failed = Job gescheitert: { $why }
job-cancelled = Job abgebrochen von { $by }
job-cause = Ursache: { $cause }
job-seen-before =
    { $times ->
        [one] ein ähnlicher Fehler kam
       *[other] { $times } ähnliche Fehler kamen
    } schon vor; Näheres: helix jobs show { $job }
job-reverted-on = auf { $branch } als { $commit } rückgängig gemacht, auf Wunsch von { $by }
job-decision-reopened = { $reverted }; { $decision } ist wieder offen
job-delivery = { $commit } nach { $target }, { $at }: { $state }
job-delivery-from = { $commit } nach { $target }, { $at }, Ausgangsstand { $baseline }: { $state }
phase-of = Phase { $number } von { $phases }, { $name }
phase-by-id = Phase { $id }

### Wie ein Job steht: was auf seinen Namen folgt

stands-queued = ist eingereiht
stands-asking = wartet auf dich: { $question }
stands-running = läuft, { $passed } von { count-phases } bestanden
stands-doing = läuft: { $doing }
# Warum ein Ergebnis neben seinem Branch liegt.
beside-detached = das Repository stand auf keinem Branch (detached HEAD)
beside-no-branch = den Branch { $branch } gibt es nicht mehr
beside-busy = in { $place } ist noch `git { $operation }` im Gange: schließe das ab oder brich es ab
beside-busy-branch = in { $place } ist noch `git { $operation }` für { $branch } im Gange: schließe das ab oder brich es ab
beside-dirty =
    { $file } { $more ->
        [0] in
       *[other] und { $more } weitere in
    } { $place }: nicht committete Änderungen in Dateien, die auch das Ergebnis ändert
beside-elsewhere = { $branch } war beim Mergen nicht mehr in { $place } ausgecheckt; das Ergebnis liegt jetzt auf: { $holders }
beside-no-holder = keinem Branch (detached HEAD)
beside-refused = git hat { $place } nicht aktualisiert: { $said }
beside-as-asked = `land: branch` lässt das Ergebnis dort
beside-conflict = der Branch steht jetzt auf { $commit } und widerspricht dem Ergebnis in { $paths }; `git merge` lässt dort beide Seiten stehen, damit du sie zusammenbringst
ended-merged = war erfolgreich, als { $commit } in { $branch } übernommen
ended-beside = ist fertig, aber NICHT übernommen: das Ergebnis { $commit } liegt nur auf dem Branch { $branch } ({ $why }). Übernimm es mit: { $command }
ended-unchanged = war erfolgreich, nichts geändert
ended-failed-because = ist gescheitert: { $why }
ended-failed-hint = ist gescheitert: { $why }. Weiter: { $hint }
ended-failed = ist gescheitert
ended-cancelled-by = wurde von { $by } abgebrochen
ended-cancelled = wurde abgebrochen
ended-not =
    { $status ->
        [queued] ist eingereiht
        [running] läuft
        [waiting] wartet
       *[other] { $status }
    }

### Fragen eines Jobs

ask-start = Phase { $phase } beginnen?
ask-delivers = Danach liefert Helix nach { $target } aus: { $what }
ask-accept = Phase { $phase } ist fertig und geprüft. Ergebnis annehmen?
ask-accept-see = Die Änderungen siehst du mit: helix jobs diff { $job } --phase { $phase }
ask-gate = Phase { $phase }: { $question }
ask-manual = Schritt von Hand { $phase }:
ask-decision = Entscheidung { $phase }:
ask-set-out = Was der Agent sagt:
ask-gate-agent =
    Der Agent, der diese Phase geplant hat, fragt:
    { $question }
ask-gate-manual = Bitte erledige diesen Schritt von Hand. Erledigt?
ask-gate-approval = Gibst du das Ergebnis frei?
ask-gate-result = Gibst du das Ergebnis der Phase { $phase } frei?
ask-runs = Phase { $phase } ist fertig und geprüft. Ihr Ergebnis hat Dateien, die von selbst laufen, ohne dass jemand das Projekt startet. Einlassen?
runs-shell = läuft, wenn jemand das Verzeichnis betritt
runs-editor = Editoren führen sie aus oder folgen ihr, wenn jemand das Verzeichnis öffnet
runs-agent = Coding-Agenten, die dort gestartet werden, folgen ihr
runs-helix = Helix folgt ihr
runs-server = läuft nach dem nächsten Push auf einem Server, oft mit Geheimnissen des Projekts
runs-git = Gits eigene Befehle führen sie aus oder das, was sie nennt
runs-interpreter = Interpreter oder Debugger, die dort gestartet werden, führen sie aus
runs-tool = Paketmanager und Build-Werkzeuge führen sie bei jedem Befehl aus oder folgen ihr
runs-file-manager = Dateimanager folgen ihr, wenn jemand in das Verzeichnis sieht
runs-nothing-new = (keine neuen Zeilen: einige fehlen oder stehen anderswo, oder sie ist jetzt ausführbar)
runs-more = … und { $lines ->
        [one] { $lines } weitere neue Zeile
       *[other] { $lines } weitere neue Zeilen
    }
ask-unmerged = Phase { $phase } konnte die Ergebnisse nicht zusammenführen
ask-stuck = Phase { $phase } kommt nicht weiter
ask-advice =
    Ratgeber{ $times ->
        [one] { "" }
       *[other] , { $times } Mal
    }: { $reason }
ask-no-advice =
    Kein brauchbarer Rat{ $times ->
        [one] { "" }
       *[other] , { $times } Mal
    }: { $reason }
ask-what = Was soll geschehen?
# Was jemand gewählt hat: die Schlüssel der Fragen, für Leser.
answered-choice =
    { $choice ->
        [approve] zugestimmt
        [reject] abgelehnt
        [retry] noch ein Versuch
        [check] noch einmal prüfen
        [accept] angenommen, wie es ist
        [skip] die Phase auslassen
        [fail] den Job als gescheitert beenden
       *[other] { $choice }
    }
option-start = Die Phase beginnen
option-no-start = Nicht beginnen; die Phase scheitert
option-accept = Das Ergebnis annehmen
option-send-back = Zurückgeben, mit Begründung: der Agent bessert nach
option-approve = Freigeben
option-reject = Ablehnen, mit Angabe, was fehlt
option-let-in = Diese Dateien einlassen, wie sie gezeigt sind
option-leave-out = Draußen lassen, mit Begründung: der Agent nimmt sie zurück
option-retry = Noch ein Versuch, mit deinem Text als Tipp
option-check = Noch einmal prüfen: die Gates beurteilen das letzte Ergebnis neu; es läuft kein Agent
option-accept-unproved = Das Ergebnis annehmen, obwohl Gate { $gate } nicht bestanden hat, mit Begründung. Die Phase gilt als nicht belegt
option-skip = Diese Phase und alle, die auf ihr aufbauen, auslassen
option-skip-optional = Ohne diese Phase weitermachen
option-fail = Den Job als gescheitert beenden
approvals-any = { $count ->
        [one] { $count } Person muss zustimmen
       *[other] { $count } verschiedene Personen müssen zustimmen
    }
approvals-other = { $count ->
        [one] jemand anderes als die Person, die den Job gestartet hat, muss zustimmen
       *[other] { $count } verschiedene Personen müssen zustimmen, ohne die, die den Job gestartet hat
    }
approvals-so-far = { $given } von { $count } Zustimmungen, von { $names }
agent-refused = abgelehnt: { $run } verlangte, was nur eine Person darf ({ $asked })
question-open = { $id }: { $question }
question-answered = { $id } beantwortet von { $by }: { $answer } ({ $question })
question-expired = { $id } ist ohne Antwort abgelaufen ({ $question })
question-closed = { $id } hat sich erledigt ({ $question })

### Der Chat: Zeilen über einer Antwort

chat-answering = Antwortet
chat-stopped = Mit einem Fehler beendet
chat-call-cut-off = die Antwort endete, bevor dieser Aufruf fertig war
chat-restarts = Helix wird beendet; der Agent arbeitet weiter
chat-answered-before = Schon beantwortet; hier ist die Antwort
chat-session-lost = Der Agent hat seine Sitzung verloren; eine neue beginnt mit dem Verlauf dieses Chats
chat-answered = Beantwortet
chat-answered-with-note = Beantwortet; beachte den Hinweis unten
chat-queued =
    Wartet auf { $ahead ->
        [one] eine frühere Nachricht
       *[other] { $ahead } frühere Nachrichten
    } dieses Chats
chat-waits = Deine Nachricht { $wait }
chat-since = Seit deiner letzten Nachricht: { $job } { $standing }
chat-provider-retry = Der Anbieter hat Probleme ({ $reason }); Versuch { $attempt } von { $most } in { $seconds } s
retry-reason-unknown = ohne Angabe von Gründen
chat-provider-limit = Das Limit des Anbieters ist erreicht
chat-provider-limit-until = Das Limit des Anbieters ist erreicht; es endet { $at }
chat-correcting = Die Antwort hat ihre Prüfungen nicht bestanden ({ count-findings }: { $validators }); der Agent soll sie verbessern, Versuch { $number } von { $most }
chat-job-waits = { $job } wartet auf dich: { $question }
chat-jobs-go-on = { $standing }. Frag hier, wie weit es ist
chat-tool =
    { $tool ->
        [adr_check] Entscheidung prüfen
        [adr_finalize] Entscheidung fertigstellen
        [adr_accept] Entscheidung annehmen
        [adr_list] Entscheidungen auflisten
        [plan_check] Plan prüfen
        [project_create] Projekt anlegen
        [job_start] Job starten
        [job_status] Stand des Jobs
        [ask_user] Dich fragen
        [answer] Dem Job antworten
        [similar_failures] Ähnliche Fehler
        [skills_list] Skills auflisten
        [skill_read] Skill lesen
       *[other] { "" }
    }
chat-tool-done =
    { $tool ->
        [adr_check] Entscheidung geprüft
        [adr_finalize] Entscheidung fertiggestellt
        [adr_accept] Entscheidung angenommen
        [adr_list] Entscheidungen aufgelistet
        [plan_check] Plan geprüft
        [project_create] Projekt angelegt
        [job_start] Job gestartet
        [job_status] Stand des Jobs angesehen
        [ask_user] Dich gefragt
        [answer] Dem Job geantwortet
        [similar_failures] Ähnliche Fehler gesucht
        [skills_list] Skills aufgelistet
        [skill_read] Skill gelesen
       *[other] { "" }
    }
chat-call =
    { $does ->
        [run] { $about } ausführen
        [read] { $about } lesen
        [write] { $about } schreiben
        [edit] { $about } ändern
        [change] Dateien { $about } ändern
        [search] { $about } suchen
        [search-web] { $about } im Web suchen
        [fetch] { $about } abrufen
       *[delegate] { $about } delegieren
    }
chat-call-done =
    { $does ->
        [run] { $about } ausgeführt
        [read] { $about } gelesen
        [write] { $about } geschrieben
        [edit] { $about } geändert
        [change] Dateien { $about } geändert
        [search] { $about } gesucht
        [search-web] { $about } im Web gesucht
        [fetch] { $about } abgerufen
       *[delegate] { $about } delegiert
    }
chat-call-failed = fehlgeschlagen
chat-silent = Seit { $time } kein Wort vom Modell; nach { $limit } Stille hält Helix den Agenten an
chat-new = Neuer Chat
chat-say-build = Setze es so um.
chat-say-risks = Was könnte an diesem Plan schiefgehen?
chat-say-progress = Wie weit ist der Job?
chat-say-changes = Was wurde geändert?
chat-say-next = Was sollte als Nächstes kommen?
chat-say-why = Woran ist es gescheitert?
chat-say-suggest = Was schlägst du vor?

### Der Chat: Blöcke in einer Antwort

chat-unfilled = Dieser Chat-Client füllt die Header seiner Verbindung nicht aus (er schickte `{ "{{…}}" }`): Helix unterscheidet Chats deshalb danach, was in ihnen gesagt wird.
chat-unfilled-remedy = Verwende Open WebUI 0.10 oder neuer oder setze dort `ENABLE_FORWARD_USER_INFO_HEADERS=true`.
chat-no-headers = Dieses Open WebUI schickt Helix keinen seiner Header: Helix unterscheidet Chats und Hintergrundanfragen deshalb danach, was in ihnen gesagt wird.
chat-no-headers-remedy = Führe auf dem Rechner von Helix `helix openwebui connect URL` mit einer http-Adresse dieses Open WebUI aus. Das setzt die Header und prüft, ob sie ankommen.
chat-too-long = Die Antwort ist länger als { $mib } MiB; der Rest wird nicht gezeigt. Bitte um sie in Teilen oder als Datei.
chat-linked-text = Der Text von `{ $name }`. Helix kennt keine Adresse, unter der dein Browser diese Datei öffnen könnte: Setze `public_url` in `[server]` der helix.toml.
chat-linked-rest = Der Rest wird nicht gezeigt.
chat-empty = der Agent hörte ohne Antwort auf
chat-not-merged = Helix führt keine Antworten zusammen. Schreib in einer neuen Nachricht, was du brauchst.
chat-said-anew = Hier brach die Verbindung zum Modell ab. Es folgt die ganze Antwort.
chat-stopped-by-provider = Hier haben die Schutzregeln des Anbieters das Modell gestoppt. Es folgt, was es stattdessen antwortet.
chat-replaced = Die Antwort oben hat ihre Prüfungen nicht bestanden. Die Antwort unten ersetzt sie.
chat-unheard = Die Antwort auf deine frühere Nachricht „{ $message }“ hat dich nicht erreicht. Hier ist sie:
chat-untold = Dieser Hinweis zur Antwort auf deine frühere Nachricht „{ $message }“ hat dich nicht erreicht:
chat-job-over = Job { $job } { $outcome }.
chat-in-place = In `{ $place }`
chat-files-changed = { count-files } geändert
chat-table-head = | Phase | Versuche | Gates | Zeit | Kosten |
chat-verifier = Prüfer
chat-more-phases =
    { $more ->
        [one] und { $more } weitere Phase
       *[other] und { $more } weitere Phasen
    }
chat-job-look = Änderungen: `helix jobs diff { $id }`. Belege: `helix jobs evidence { $id }`.
chat-job-details = Details: `helix jobs show { $id }`.
chat-job-next-ask = Oder frag hier, was zu tun ist.
chat-job-next-failed = Als Nächstes: Frag hier, was zu tun ist, oder mach weiter mit `helix jobs resume { $id }`.
chat-job-next-decision = Als Nächstes: `{ $commands }` in `{ $project }` hakt die Kriterien ab, die der Job belegt hat.
link-gone = Diese Datei gibt es nicht mehr: sie wurde verschoben oder gelöscht, oder ihr Chat ist vergessen. Frag im Chat nach ihr.
chat-job-goes-on = Er läuft ohne diese Seite weiter. Frag hier, wie weit er ist.
choice-approve = Ja.
choice-reject = Nein.
choice-retry = Versuch es noch einmal.
choice-skip = Lass diese Phase aus.
choice-fail = Beende den Job.
choice-own = Ich wähle: { $label }
chat-job-asks = Job { $job } wartet auf dich (Phase `{ $phase }`):
chat-agent-asks = Der Agent der Phase `{ $phase }` von Job { $job } fragt dich:
chat-job-answer = Antworte hier im Chat oder mit `helix answer { $id }`.
chat-not-fixed-unasked = Diese Antwort hat ihre Prüfungen nicht bestanden; der Agent wurde nicht gebeten, sie zu verbessern.
chat-not-fixed =
    Diese Antwort hat ihre Prüfungen nicht bestanden; der Agent wurde { $asked ->
        [one] einmal
       *[other] { $asked }-mal
    } gebeten, sie zu verbessern.
chat-not-fixed-unasked-why = Diese Antwort hat ihre Prüfungen nicht bestanden; der Agent wurde nicht gebeten, sie zu verbessern: { $why }.
chat-not-fixed-why =
    Diese Antwort hat ihre Prüfungen nicht bestanden; der Agent wurde { $asked ->
        [one] einmal
       *[other] { $asked }-mal
    } gebeten, sie zu verbessern: { $why }.
chat-no-session = dieser Agent kann eine Sitzung nicht fortsetzen
chat-no-answer = er gab keine Antwort
chat-ask-again = Bitte noch einmal darum oder lass es.
chat-unexamined = Diese Antwort konnte nicht geprüft werden: { $why }.
chat-unexamined-remedy = Sorge dafür, dass das Verzeichnis der Sitzung lesbar ist; `helix doctor` untersucht das Zustandsverzeichnis.
# Why a command could not run.
command-missing = das Programm "{ $program }" wurde nicht gefunden
    .hint = installiere { $program } oder nenne es im Befehl mit seinem Pfad
command-empty = der Befehl ist leer
    .hint = schreib einen Befehl
command-unstartable = das Programm "{ $program }" konnte nicht gestartet werden: { $reason }
    .hint = prüfe, ob { $program } ausgeführt werden darf
sandbox-remedy = führe Helix auf einem System aus, das sie hat (`helix doctor --sandbox`), oder setze `mode = "preferred"` in [sandbox]
# Why a check of the user's own could not be made.
check-no-command = sie hat keinen Befehl
check-stopped = sie wurde gestoppt
check-long = sie hat mehr als { $kib } KiB ausgegeben
check-slow = sie hat länger als { $seconds } s gebraucht
check-exited = sie endete mit { $code }: { $said }
check-ended = sie wurde von außen beendet
chat-unmade = Einige Prüfungen dieser Antwort waren nicht möglich:
chat-unmade-remedy = Sieh dir `[consultant] validators` in helix.toml an.

### Der Chat: was an einer Antwort nicht stimmt, und was zu tun ist

answer-no-file = die Antwort verweist auf die Datei { $file }, die es nicht gibt
answer-no-marker = die Antwort endet nicht mit einer Schrittmarke
answer-no-step = die Schrittmarke { $marker } nennt keinen Schritt
answer-tasks-lost =
    die Antwort ist unvollständig: { $tasks } { $tasks ->
        [one] Hintergrundaufgabe ging
       *[other] Hintergrundaufgaben gingen
    } verloren
    .hint = { answer-go-on }
answer-local-command = der Agent hielt die Nachricht für einen seiner eigenen Befehle und gab keine Antwort
    .hint = beginne die Nachricht mit einem Wort statt mit einem Schrägstrich
answer-died = der Agent endete mitten in seiner Antwort ({ $how })
    .hint = { answer-go-on }
answer-truncated = die Antwort wurde vor ihrem Ende abgeschnitten
    .hint = { answer-go-on }
answer-incomplete = am Ende des Laufs fehlte { $missing }
    .hint = { answer-go-on }
answer-stopped-by-hook = ein Hook des Agenten hat die Antwort angehalten
    .hint = { answer-once-more }
answer-interrupted = die Antwort wurde von außen unterbrochen
    .hint = { answer-go-on }
answer-cancelled = die Antwort wurde angehalten
    .hint = der Agent weiß, wie weit er gekommen ist: sag, wie es weitergehen soll
answer-timed-out = die Zeit für die Antwort ist abgelaufen
    .hint = sag „weiter“, bitte um weniger auf einmal oder erhöhe das Zeitlimit
answer-stalled = der Agent meldete sich zu lange nicht und wurde angehalten
    .hint = { answer-go-on }
answer-stuck = der Agent wiederholte einen Aufruf, der jedes Mal auf dieselbe Weise fehlschlug, und wurde angehalten
    .hint = { answer-go-on }
answer-lost = der Aufsichtsprozess des Agenten wurde unerwartet beendet
    .hint = { answer-go-on }
answer-limited-until = das Nutzungslimit des Anbieters ist erreicht; es endet { $at }
    .hint = sende die Nachricht danach noch einmal
answer-limited = das Nutzungslimit des Anbieters ist erreicht
    .hint = { answer-later }
answer-overloaded = der Anbieter meldete einen Fehler: HTTP { $status }
    .hint = { answer-later }
answer-unreachable = die Verbindung zum Anbieter ist gescheitert
    .hint = { answer-later }
answer-no-money = das Guthaben beim Anbieter ist aufgebraucht
    .hint = lade das Konto beim Anbieter auf, dann sende die Nachricht noch einmal
answer-credentials = der Anbieter nimmt die Zugangsdaten von Helix nicht an
    .hint = melde dich mit dem Programm des Agenten an oder trage seinen API-Schlüssel in helix.toml ein, führe `helix doctor` aus und sende die Nachricht noch einmal
answer-context = was das Modell lesen soll, ist ihm zu lang
    .hint = kürze die Nachricht oder sende sie noch einmal: Helix beginnt eine neue Sitzung des Agenten mit dem Ende dieses Chats
answer-too-many-steps = die Antwort brauchte mehr Schritte als erlaubt
    .hint = { answer-less }
answer-no-budget = das Budget der Antwort ist aufgebraucht
    .hint = { answer-less }
answer-no-format = die Antwort des Agenten hatte nicht die verlangte Form
    .hint = sende die Nachricht noch einmal
answer-refused = das Modell hat die Antwort verweigert
    .hint = formuliere die Nachricht anders
answer-unstarted = der Agent kam nicht zum Arbeiten: { $reason }
    .hint = { run-doctor }
answer-misconfigured = der Agent kann so, wie er eingerichtet ist, nicht arbeiten
    .hint = { run-doctor }
answer-declared = der Agent meldet: { $message }
    .hint = { answer-once-more }
answer-bad-request = der Agent meldet: { $message }
    .hint = der Anbieter lehnt diese Anfrage immer ab: prüfe Modell und Einstellungen des Agenten in helix.toml und die Größe der Nachricht
answer-no-model = der Agent meldet: { $message }
    .hint = wähle ein Modell, das der Anbieter hat, für den Agenten in helix.toml
answer-contradicted = die Aufzeichnung des Agenten widerspricht sich: { $evidence }
    .hint = { answer-once-more }
answer-own-failure = { $cause }
    .hint = führe `helix doctor` aus
answer-unknown-agent = { $cause }
    .hint = setze [consultant] agent in helix.toml auf einen eingerichteten Agenten
answer-unreadable = die Aufzeichnung der Sitzung ist nicht lesbar: { $cause }
    .hint = führe `helix doctor` aus: es prüft die Datenbank
answer-no-end = die Antwort hat kein Ende
    .hint = sende die Nachricht noch einmal
answer-not-noted = das Projekt der Sitzung lässt sich nicht vermerken: { $cause }
    .hint = { answer-writable }
answer-not-stored = eine Datei der Nachricht lässt sich nicht ablegen: { $cause }
    .hint = { answer-writable }
answer-turn-lost = die Antwort brach ab, bevor sie zu Ende war; sende die Nachricht noch einmal, und sieh ins Log von Helix, wenn es wieder geschieht
answer-shutdown = Helix wird beendet. Der Agent arbeitet an dem weiter, was er begonnen hat: sende dieselbe Nachricht nach dem Neustart noch einmal, dann bekommst du diese Antwort
answer-shutdown-kept = Helix wird beendet. Der Agent arbeitet an dem weiter, was er begonnen hat: nach dem Neustart zeigt `helix chat --session { $session } --show` diese Antwort
answer-go-on = der Agent weiß, wie weit er gekommen ist: sag „weiter“ oder sende die Nachricht noch einmal
answer-once-more = sende die Nachricht noch einmal; wenn es wieder scheitert, führe `helix doctor` aus
answer-later = sende die Nachricht in ein paar Minuten noch einmal
answer-less = sag „weiter“, bitte um weniger auf einmal oder erhöhe das Limit in helix.toml
answer-writable = prüfe, ob das Zustandsverzeichnis beschreibbar und nicht voll ist

### Das Terminal

term-start = Schreib eine Nachricht oder füge eine ein; \ am Ende einer Zeile setzt sie fort. /help nennt die Befehle, Strg-D beendet den Chat.
term-stopped = Die Antwort wurde angehalten.
term-how-to-leave = Noch einmal Strg-C oder Strg-D beendet den Chat.
chat-help =
    /plan            Entscheidung und Plan zeigen, die auf dein Ja warten, und ausführen
    /jobs            Jobs dieses Projekts
    /diff [JOB]      Änderungen eines Jobs [sonst: des letzten dieser Sitzung]
    /sessions        die letzten Sitzungen
    /resume [N|ID]   eine andere Sitzung fortsetzen [sonst: die letzte]
    /new             eine neue Sitzung beginnen
    /show            diese Sitzung bisher
    /model [NAME]    Modell des Consultants [sonst: das eingestellte]
    /quit            den Chat beenden
    Strg-C hält eine Antwort an; ↑ und Strg-R finden, was du früher gesagt hast.
chat-model = Modell des Consultants ab jetzt: { $model }
chat-model-configured = Modell des Consultants ab jetzt: das eingestellte
chat-no-job = Diese Sitzung hat noch keinen Job gestartet.
sessions-none = noch keine Sitzungen
drafts-decision = Entscheidung (adr-draft.md)
drafts-plan = Plan { $name } (phases.yaml)
drafts-after = nach { $phases }
drafts-checks = geprüft durch: { $checks }
drafts-verifier = einen unabhängigen Prüfer
drafts-unchecked = nichts
drafts-run = Ausführen? [j]a, Plan b[e]arbeiten, Entscheidung bearbeiten [d], [n]icht jetzt, oder sag, was anders werden soll:
drafts-invalid = Der Plan hat Fehler: Bearbeite ihn, oder sag, was anders werden soll.
drafts-kept = Nicht gestartet. /plan zeigt ihn wieder.
drafts-none = Kein Plan wartet auf dein Ja.
acp-run-plan = Den Plan ausführen?
acp-plan-again = Den wartenden Plan noch einmal anbieten
acp-run = Ausführen
acp-not-now = Nicht jetzt
acp-plan-invalid = Der Plan hat Fehler: sag, was anders werden soll.
acp-job = Job { $name }
acp-job-asks = Job { $name } fragt zu { $phase }
acp-left-out = { $files ->
        [one] 1 geänderte Datei ist
       *[other] { $files } geänderte Dateien sind
    } hier nicht gezeigt (zu viele, zu groß oder kein Text): helix jobs diff { $job }
acp-answer-at-terminal = Das kann nur eine Person am Terminal beantworten: { $command }
do-started = Nichts wurde gestartet: der Plan dieser Sitzung läuft oder lief schon. Ansehen kannst du ihn mit: helix jobs show { $job }
do-run-it = Nichts wurde gestartet. Ausführen kannst du es mit: helix do --session { $session } --yes
clean-left = nicht entfernt: { $why }
clean-nothing = nichts zu entfernen
clean-would = würde { $size } freigeben; ohne --dry-run geschieht es
clean-done = { $size } freigegeben
term-you = du>
term-continue = Weiter geht es mit: helix chat --session { $session }
term-job-goes-on = Job { $job } läuft weiter: helix jobs watch { $id }
term-no-answer = (noch keine Antwort)
term-turn-failed = (gescheitert: { $why })
term-turn-after = (nach { $turn })
term-cancelling = Der Job wird abgebrochen … (noch einmal Strg-C: beenden, ohne zu warten)
term-reconnecting = Die Verbindung wird wiederhergestellt …
term-running-again = läuft wieder
term-attempt = Versuch { $attempt }
term-keeps-running = Job { $id } läuft weiter; zurück kommst du mit: helix jobs watch { $id }; abbrechen kannst du ihn mit: helix jobs cancel { $id }
term-cancel-left = Job { $id } wird abgebrochen; der nächste helix-Befehl bringt das zu Ende
term-waits-for-you = Job { $id } wartet auf dich; antworte mit: helix answer
term-other-jobs =
    wartet auf { $jobs ->
        [one] einen anderen Job, der
       *[other] { $jobs } andere Jobs, die
    } in diesem Prozess { $jobs ->
        [one] läuft
       *[other] laufen
    }; Strg-C: beenden, der nächste helix-Befehl macht weiter
term-ended = Job { $status }
term-follow = verfolge ihn mit: helix jobs watch { $id }
term-no-host = es läuft kein Host; weiter geht es mit: helix jobs watch { $id }
term-agent-asks = der Agent fragt:
term-question = { $id }, Phase { $phase } von { $job }
term-expires = läuft ab: { $at }
term-changes = Änderungen: { $command }
term-answer-by = Antwort: { $command }
term-your-answer = Antwort (leer: jetzt nicht)
term-your-choice = { $choices } (leer: jetzt nicht)
term-your-text = dein Text (leer: keiner)
term-choose = wähle eins von: { $choices }
term-no-questions = keine offenen Fragen
term-not-answered = nicht beantwortet; die Frage bleibt offen
term-answered = { $id } beantwortet
term-approved = Zustimmung zu { $id } festgehalten: { $state }
term-cancelled = { $id } wird abgebrochen
term-resume = weiter geht es mit: helix jobs resume { $id }
term-date = { $day }.{ $month }.{ $year } { $clock }

### Das Terminal: der Bildschirm eines Jobs

screen-phases = { $done }/{ $phases ->
        [one] { $phases } Phase
       *[other] { $phases } Phasen
    }
screen-budget = { $cost } von { $budget }
screen-keys = ↑↓ wählen  l Log  d Diff  g Gate-Ausgabe  q verlassen  c abbrechen
screen-key-answer = a antworten
screen-keys-text = ↑↓ Bild↑ Bild↓ blättern  Pos1 Ende  q zurück
screen-keys-question = ↑↓ wählen  Enter antworten  d Diff  l Log  g Gate-Ausgabe  Esc jetzt nicht
screen-keys-type = Enter senden  Esc zurück
screen-leave-or-cancel = Verlassen? d im Hintergrund weiterlaufen lassen  c Job abbrechen  sonst: bleiben
screen-cancel = Den Job abbrechen? c abbrechen  andere Taste: bleiben
screen-question = ⏸ Phase { $phase } wartet auf dich
screen-agent-asks = ⏸ Der Agent der Phase { $phase } fragt
screen-so-far = Bisher: { $attempts ->
        [one] { $attempts } Versuch
       *[other] { $attempts } Versuche
    }, { $cost }, { $time }
screen-your-answer = Deine Antwort:
screen-your-text = Dein Text (kann leer bleiben):
screen-more = … { $lines ->
        [one] noch { $lines } Zeile
       *[other] noch { $lines } Zeilen
    } (Bild↓)
screen-log = Log der Phase { $phase }
screen-diff = Änderungen der Phase { $phase }
screen-output = Phase { $phase }: Ausgabe des Gates { $gate }
screen-nothing = Hier gibt es noch nichts zu sehen.
doing-starts = startet
doing-thinks = denkt nach
doing-tokens = { $tokens } Tokens
doing-limited = das Nutzungslimit des Anbieters ist erreicht
doing-limited-until = das Nutzungslimit des Anbieters ist erreicht; es endet am { $at }
doing-repeats = der Anbieter antwortet nicht ({ $reason }): Versuch { $attempt } von { $most } in { $pause }

### Das Terminal: was mit einem Job geschah, nach seinem Ende

report-in = nach { $time }, { $cost }
report-so-far = bisher { $time }, { $cost }
report-issue = Issue
report-commit = Commit
report-merged = { $commit }, übernommen in { $branch } von { $project }
report-on-branch = { $commit }, nur auf dem Branch { $branch } von { $project }
report-not-merged = NICHT übernommen: { $why }
report-take = übernimm es mit: { $command }
report-no-commit = keiner: nichts geändert
report-revert = Revert
report-venv = venv
report-logs = Logs
report-details = Details
report-next = Weiter
report-ticks = (hakt die Kriterien ab, die der Job belegt hat)
report-accepted = angenommen von { $by }, obwohl Gate { $gate } nicht bestanden hat, also nicht belegt: { $why }
report-skipped = ausgelassen: { $why }
report-no-reason = es ist kein Grund verzeichnet
report-failed = gescheitert
report-output = Ausgabe
report-log = Log
report-waiting-for-you = wartet auf dich:
report-of = Bericht: { $what }
report-missing = er fehlt
report-will-verify = { $phase }: ein Prüfer wird das Ergebnis ansehen
report-verified = { $phase }: Prüfer ({ $who }), Versuch { $attempt }: { report-verdict }: { $summary } ({ $time }, { $cost }{ $runs ->
        [one] { "" }
       *[other] { " " }für { $runs } Läufe
    })
report-verdict =
    { $verdict ->
        [pass] bestanden
        [fail] nicht bestanden
       *[inconclusive] ohne Ergebnis
    }

### Warum etwas gescheitert ist, wie es aufgezeichnet wird

cause-result-refused = das Ergebnis enthält, was kein Ergebnis enthalten darf
cause-not-let-in = { $by } hat Dateien nicht eingelassen, die von selbst laufen
cause-answered = Eine Person hat deine Frage beantwortet. Mach mit der Antwort weiter.
cause-no-answer = Niemand hat deine Frage rechtzeitig beantwortet. Mach ohne Antwort weiter.
cause-nothing-changed = eine Phase der Art { $kind } muss Dateien ändern: { $why }
cause-phases-invalid = die gelieferten Phasen sind ungültig
cause-outgrown = der Plan ist inzwischen gewachsen, und die gelieferten Phasen passen nicht mehr
cause-gate = Gate { $gate } fand: { $why }
# Was nur auf Englisch aufgezeichnet ist, zählt nur.
gate-found =
    { $summary ->
       *[other]
            { $problems ->
                [one] ein Problem
               *[other] { $problems } Probleme
            }
    }
cause-gate-not-run = Gate { $gate } kam zu keinem Ergebnis: { $why }
cause-gate-unsure = Gate { $gate } konnte die Arbeit nicht bestätigen: { $why }
cause-run = der letzte Lauf wurde nicht fertig: { $what }
cause-phase-spent = { $why } (das Budget der Phase ist verbraucht)
    .hint = erhöhe `budget_usd` der Phase oder teile sie auf, dann mach weiter mit `helix jobs resume { $job }`
cause-optional = optional und gescheitert: { $why }
cause-not-approved = { $by } hat den Beginn nicht freigegeben
cause-not-approved-because = { $by } hat den Beginn nicht freigegeben: { $why }
cause-not-accepted = { $by } hat das Ergebnis nicht angenommen
cause-skipped-by = ausgelassen von { $by }: { $why }
cause-skipped-before = eine Phase, auf der sie aufbaut, wurde ausgelassen
cause-not-selected = nicht ausgewählt
cause-replaced = ersetzt durch { $phases }
cause-with-hint = Tipp für diesen Versuch: { $hint }
cause-unanswered = nicht rechtzeitig beantwortet: Freigabe der Phase { $phase }
    .hint = antworte früher oder erhöhe timeout in [questions]; `helix jobs resume { $job }` fragt noch einmal
cause-undecided = { $why } (nicht rechtzeitig beantwortet)
cause-stuck = Phase { $phase } kommt nicht weiter
cause-stopped = der Job wurde angehalten
cause-job-ended = der Job endete
cause-rejected = der { $who } lehnt das Ergebnis ab: { $why }
cause-reviewer-not-asked = der { $who } konnte nicht gefragt werden: { $why }
cause-reviewer-silent = der { $who } gab { $times ->
        [one] einmal keine brauchbare Antwort
       *[other] { $times } Mal keine brauchbare Antwort, zuletzt
    }: { $why }
cause-delivery = die Auslieferung ist gescheitert
cause-rolled-back-by = { $by } hat verlangt, die Auslieferung zurückzunehmen
cause-all-skipped = keine Phase hat bestanden: alle wurden ausgelassen
    .hint = wiederhole eine mit `helix jobs retry { $job } --phase { $phase }`
cause-not-combined = die Ergebnisse konnten nicht zusammengeführt werden
cause-no-start = keine der übrigen Phasen kann beginnen
cause-spent = Job beendet: { $limit }
    .hint = mach weiter mit `helix jobs resume { $job } --budget USD`
    .rest = ein Job behält dieses Limit: erhöhe es in [jobs] der helix.toml und starte den Plan noch einmal als neuen Job (`helix run`)
spent-budget = Budget von { $budget } USD verbraucht ({ $spent } USD ausgegeben)
spent-turns = Grenze von { $limit } { $limit ->
        [one] Schritt
       *[other] Schritten
    } erreicht ({ $taken } gemacht)
spent-tokens = Grenze von { $limit } { $limit ->
        [one] Token
       *[other] Tokens
    } erreicht ({ $used } verbraucht)
spent-time = Grenze von { $limit } s Arbeitszeit der Agenten erreicht ({ $used } s verbraucht)
spent-reserved = vom Budget ist nur noch übrig, was anderen Läufen zugesagt ist
side-no-answer = der Lauf hat keine strukturierte Antwort
side-stopped = er wurde angehalten
side-timed-out = keine Antwort innerhalb von { $seconds } s
    .hint = erhöhe das Zeitlimit oder lass weniger ansehen
side-misfit = die Antwort hat nicht die verlangte Form: ein Wert ist von anderer Art
side-lacks = die Antwort hat nicht die verlangte Form; es fehlt: { $keys }
side-no-checkout = nichts wurde ausgecheckt
side-changed = der Prüfer hat geändert, was er ansehen sollte: { $files }
side-approves-problems = die Antwort stimmt zu und nennt Probleme
side-rejects-nothing = die Antwort lehnt ab und nennt kein Problem
side-cites-nothing = die Antwort lehnt ab, aber keiner ihrer Befunde ({ $count }) nennt eine Datei des Ergebnisses ({ $files }); ein Befund nennt, vom Arbeitsverzeichnis aus, die Datei, die falsch ist, oder die verlangte Datei, die fehlt
side-no-adviser = es ist kein Ratgeber eingerichtet
side-proposal-lacks = der Vorschlag hat kein `{ $what }`
side-no-model = das vorgeschlagene Modell { $model } ist keines von { $models }
side-did-you-mean = meintest du { $near }?
side-phases-invalid = die vorgeschlagenen Phasen sind ungültig: { $why }
hint-try-again = `helix jobs resume { $job }` versucht es mit diesen Befunden noch einmal und nimmt den Plan, wie seine Datei dann ist
hint-change-task = { hint-try-again }; `helix jobs check { $job }` prüft nur das Ergebnis noch einmal
hint-same-findings = der Agent hat auf dieselben Befunde hin nichts geändert: ändere die Beschreibung der Phase oder ihr Gate, dann mach weiter mit `helix jobs resume { $job }`
hint-review-again = `helix jobs resume { $job }` fragt den { $who } noch einmal; die Arbeit bleibt, wie sie ist
hint-resets = das Limit endet am { $at }: führe dann `helix jobs resume { $job }` aus; `max_wait` in [jobs] legt fest, wie lange ein neuer Job wartet
hint-deliver = `helix jobs resume { $job }` liefert noch einmal aus
hint-deliver-again = lag es am Ziel, bring es in Ordnung: `helix jobs resume { $job }` liefert dasselbe noch einmal aus; lag es am Ergebnis, berichtige es in einem neuen Job (`helix run`)
hint-person-needed = sieh dir das Ziel an; `helix jobs rollback { $job } --again` nimmt noch einmal zurück, `helix jobs resume { $job }` liefert noch einmal aus, beides von vorn
rolled-back = zurückgenommen{ $to }
rolled-back-to = { " " }auf { $commit }
rolled-back-first = { " " }(eine frühere Auslieferung ist nicht bekannt)
rolled-back-not = nicht zurückgenommen: eine Person muss eingreifen
rolled-back-unknown = wie weit die Rücknahme kam, ist unbekannt: eine Person muss eingreifen
rolled-back-failed = die Rücknahme ist gescheitert: eine Person muss eingreifen
rolled-back-unseen = , nicht belegt: der Zustand wurde nicht gesehen: eine Person muss eingreifen
rolled-back-unwatched = , und vom Zustand danach war nichts zu sehen
rolled-back-healthy = { " " }und gesund
rolled-back-unhealthy = , noch immer nicht gesund: eine Person muss eingreifen
rolled-back-unclear = , nicht belegt: der Zustand ist unbekannt: eine Person muss eingreifen
after-none = vor einem Versuch, der zählt
after-only = nach dem einzigen Versuch
after-all = nach allen { $made } Versuchen
after-some = nach { $made } von { $granted } Versuchen
after-more = nach { $made } Versuchen

### Listen, Rücknahmen und Belege von Jobs

output-of = Phase { $phase }, Versuch { $attempt }: Ausgabe des Gates { $gate }
output-changed = Die Datei wurde nach dem Lauf des Gates geändert: das ist nicht, was beurteilt wurde.
shell-opens = Shell in einer Kopie des Ergebnisses der Phase { $phase } ({ $commit }): { $path }. Was du dort änderst, gehört nicht zum Job; zurück mit `exit`.
list-none = noch keine Jobs in { $place }; einen startest du mit: helix run PLAN
list-none-here = noch keine Jobs dieses Projekts; `helix jobs list` zeigt { $jobs ->
        [one] den eines anderen
       *[other] { $jobs } von anderen
    }
list-for-you = { $status } (wartet auf dich: helix answer)
list-reverted = { $status } (rückgängig gemacht)
list-not-merged = { $status } (nicht übernommen)
list-not-proved = { $status } (nicht belegt)
list-stopped = angehalten (kein Host)
list-host-started = Helix lief nicht: { $jobs ->
        [one] { $jobs } angehaltener Job geht
       *[other] { $jobs } angehaltene Jobs gehen
    } jetzt im Hintergrund weiter.
list-host-silent = der Host (Prozess { $process }) antwortet nicht: { host-hangs }
host-hangs = warte einen Augenblick; wenn er hängt, beende diesen Prozess: seine Agenten laufen weiter, und der nächste helix-Befehl übernimmt
list-no-host = kein Helix-Prozess läuft: unfertige Jobs gehen mit dem nächsten `helix run`, `helix jobs watch` oder `helix serve` weiter
ago-now = gerade eben
ago-minutes = vor { $minutes } min
ago-hours = vor { $hours } h
ago-days = vor { $days } Tagen
ago-on = am { $day }.{ $month }.{ $year }
reverted-already = nichts zu tun: schon früher { $reverted }
report-of-attempt = { $phase }, Versuch { $attempt }
report-of-job = der ganze Job
report-line =
    { $label ->
        [failed] gescheitert
        [attempt] Versuch
        [check] Prüfung
        [ended] Ende
        [cause] Ursache
        [places] Stellen
        [seen-before] schon gesehen
        [suggested] Vorschlag
       *[other] { $label }
    }: { $text }
evidence-of = { $job }, ab Commit { $commit }
evidence-venv = in der virtuellen Umgebung { $venv }
gate-tests = { $passed } bestanden, { $failed } gescheitert{ $skipped ->
        [0] {""}
       *[other] , { $skipped } ausgelassen
    }
evidence-missing = fehlt:
evidence-proved = belegt
evidence-proved-now = belegt, eben noch einmal geprüft
evidence-unproved = NICHT BELEGT
evidence-not-passed = hat nicht bestanden
evidence-conflict = Konflikt zwischen { $phases } in { $paths }: gelöst von { $phase }
evidence-conflict-unproved = Konflikt zwischen { $phases } in { $paths }: übernommen von { $phase }, nicht belegt, dass er gelöst ist
evidence-integrated = übernommen als { $commit }, Baum { $tree }
evidence-validated = geprüft von Phase { $phase }
evidence-refused = nicht übernommen: die zusammengeführten Ergebnisse bestehen nicht
evidence-finding = Befund { $finding }
evidence-not-integrated = nicht übernommen
evidence-delivered = ausgeliefert von { $phase }: { $delivery }
evidence-rollback = Rücknahme durch { $who }, begonnen am { $at }
evidence-rollback-not-begun = Rücknahme durch { $who }, nicht begonnen
evidence-rollback-helix = Helix, da die Auslieferung gescheitert ist
evidence-nothing = NICHT BELEGT: { $why }
evidence-gone = (nicht mehr da)
evidence-checked-before = vor der Auslieferung geprüft:
evidence-review = { $asked } durch { $who }: { $verdict }: { $summary } (Lauf { $run })
evidence-checked = geprüft: { $check }
evidence-person = { $by }, { $at }: { $answer }
evidence-attempt = Versuch { $attempt }: { $summary }
evidence-attempt-kept = Versuch { $attempt }: { $summary } (Branch { $branch })
attempt-running = läuft
attempt-stopped = { $run }; { $what }: { report-verdict } ({ $why })
evidence-no-exit = kein Exit-Code
evidence-exit = Exit { $code }
evidence-sandbox = Sandbox
evidence-tries = ({ $attempts } Versuche)
evidence-output = Ausgabe { $file } sha256 { $hash }: { $state ->
        [intact] unverändert
        [changed] seit dem Gate GEÄNDERT
       *[missing] FEHLT
    }

### Was Belegen fehlt

lacks-success = der Job ist gescheitert: { $why }
lacks-cancelled = der Job wurde abgebrochen
lacks-job-end = der Job ist noch nicht beendet
lacks-of-phase = Phase { $phase }: { $what }
lacks-integration = die Ergebnisse wurden nicht zusammengeführt
lacks-of-result = das zusammengeführte Ergebnis: { $what }
lacks-left-out = sie ist gescheitert, und der Plan lässt den Job ohne sie weitergehen: { $why }
lacks-overruled = Phase { $phase } zählt, obwohl ein Gate nicht bestanden hat
lacks-checks = nichts hat sie geprüft: kein Gate, kein Prüfer, keine Person
lacks-end = sein Ende ist nicht aufgezeichnet
lacks-attempt = kein Versuch dieser Phase hat das Ergebnis, das zählt
lacks-commit = das Repository hat keinen Commit { $commit } mit Baum { $tree }
lacks-run = der Lauf fehlt
lacks-run-end = Lauf { $run } wurde nicht fertig: { $what }
lacks-record = die Aufzeichnung des Laufs { $run } ist nicht mehr da: { $path }
lacks-review = die Aufzeichnung des Prüferlaufs { $run } ist nicht mehr da: { $path }
lacks-pass = von Gate { $gate } ist nicht aufgezeichnet, dass es bestanden hat
lacks-pass-sum = von Gate { $gate } der Phase { $phase } ist nicht aufgezeichnet, dass es auf dem übernommenen Stand bestanden hat
lacks-since = Phase { $later } hat nach der Freigabe in Phase { $phase } noch { $files } geändert; diese Änderung hat niemand freigegeben
lacks-verifier = der Prüfer hat dieses Ergebnis nicht angenommen
lacks-approval = niemand hat es freigegeben
lacks-accepted = { $by } hat es angenommen, obwohl Gate { $gate } nicht bestanden hat: { $why }
lacks-tree = Gate { $gate } sah Baum { $tree } an, nicht das Ergebnis
lacks-output = die Ausgabe des Gates { $gate } wurde nach seinem Lauf geändert: { $path }
lacks-readable = die Ausgabe des Gates { $gate } ist nicht lesbar: { $path }
lacks-phase = Commit { $commit } der Phase { $phase } ist nicht darin enthalten

### Das Terminal: andere Befehle

diff-nothing = zwischen { $from } und { $to } wurde nichts geändert
diff-more =
    { $bytes } { $bytes ->
        [one] weiteres Byte
       *[other] weitere Bytes
    }: git diff { $from } { $to }
keys-no-people = niemand hat einen Schlüssel; einen legst du an mit `helix people add NAME`
keys-no-tokens = keine Tokens; eines legst du an mit `helix token create --chat NAME`
keys-once = das wird nur dieses eine Mal gezeigt; Helix behält nur einen Hash davon
keys-revoked = { $name }: der Schlüssel gilt nicht mehr
trust-none = keiner Projektkonfiguration wird vertraut
trust-unneeded = Der Datei { $path } wird in ihrem jetzigen Stand vertraut. Sie setzt nur Namen und Grenzen; `helix plan check` und `helix doctor` probieren hier nun auch die Befehle der Gates
preflight-passes = `{ $command }` läuft auf dem Ausgangs-Commit und besteht
preflight-fails = `{ $command }` läuft auf dem Ausgangs-Commit und schlägt dort fehl: { $how }. Das Gate vergleicht damit
preflight-untrusted = Die Befehle der Gates wurden nicht probiert, weil du diesem Projekt noch nicht vertraust: `helix trust` (ohne helix.toml: `helix init`), oder einmalig mit --preflight
doctor-gate = Gate { $gate } (Phase { $phase })
doctor-gates = Gates
doctor-untrusted = die Befehle der Gates wurden nicht probiert: du vertraust diesem Projekt noch nicht
    .hint = führe hier `helix trust` aus, oder einmalig `helix doctor --preflight`
doctor-no-project = die Befehle der Gates wurden nicht probiert: dieses Projekt hat keine helix.toml, der du vertrauen könntest
    .hint = führe hier `helix init` aus, das eine schreibt und ihr vertraut, oder einmalig `helix doctor --preflight`
trust-given = Der Datei { $path } wird in ihrem jetzigen Stand vertraut. Sie setzt:
trust-key = { $name } (Zeile { $line })
trust-with = und nennt diese Dateien, denen du damit auch vertraust:
trust-again = Wenn sich eine dieser Dateien ändert, vertraue ihr neu.
trust-revoked = Der Datei { $path } wird nicht mehr vertraut
trust-was-none = Der Datei { $path } wurde nicht vertraut
gates-no-verdict = es wurde kein Urteil aufgezeichnet: ein Job prüft das committete Ergebnis noch einmal
gates-left-out = { $gate }: läuft hier nicht: { $why }
gates-audit-rate =
    Durchlassquote { $rate } %: { $escaped } von { $tried } eingebauten Fehlern { $escaped ->
        [one] hat
       *[other] haben
    } alle Gates bestanden (95 % Konfidenz: { $low } bis { $high } %); { $possible } { $possible ->
        [one] lässt
       *[other] lassen
    } sich einbauen
gates-audit-at = geprüft am { $at }
gates-audit-sort = { $sort ->
    [stub] Attrappe
    [lie] Lüge
    [weaker_test] schwächerer Test
   *[mistake] Fehler
    }
gates-audit-noticed = bemerkt von { $gate }: { $said }
gates-audit-escaped = DURCHGELASSEN
gates-audit-left-out = { $phase }: nichts eingebaut: { $why }
gates-audit-alone = Prüfer und Personen wurden nicht gefragt; weder das Repository noch die Aufzeichnung des Jobs wurde verändert
serve-stopped = Beendet. Laufende Agenten arbeiten weiter; der nächste helix-Befehl übernimmt.
serve-at = Helix läuft unter { $url }  (OpenAI-kompatibel: { $address }/v1)
serve-open = kein Token nötig (--no-auth)
serve-token = Token: { $token }  (wird nur dieses eine Mal gezeigt)
serve-stored = { "       " }abgelegt in { $file }
serve-token-file = Token-Datei: { $file }
serve-stop = Strg-C beendet.

person =
    { $name } ({ $how ->
        [terminal] am Terminal
        [key] mit Schlüssel
        [token] mit Token
        [browser] im Browser
        [chat] im Chat
        [no-token] ohne Token
       *[other] { $how }
    })

### Das Terminal: Wörter mehrerer Befehle

project-created = Projekt { $place } angelegt
next-step = Weiter: { $step }
valid = gültig
count-errors =
    { $errors ->
        [one] { $errors } Fehler
       *[other] { $errors } Fehler
    }
list-unreadable = die Aufzeichnung von Job { $id } ist nicht lesbar; `helix jobs show { $id }` sagt, warum
block =
    { $kind ->
        [note] Hinweis
        [tip] Tipp
        [important] Wichtig
        [warning] Warnung
       *[caution] Achtung
    }
problem-error = Fehler
problem-warning = Warnung
problem-hint = Tipp
problem-because = Ursache: { $cause }
settings-built-in = eingebaut
settings-fit =
    passend zu { $cores } { $cores ->
        [one] Kern
       *[other] Kernen
    } und zum Arbeitsspeicher
wall =
    { $wall ->
        [files] Dateien
        [signals] Signale
        [network] Netz
        [sockets] Sockets
        [limits] Grenzen
        [key] Schlüssel
       *[other] { $wall }
    }
wall-missing = nicht { $wall }: { $why }
no-wall = { $wall ->
        [network] keine Wand um das Netz
        [signals] keine Wand um Signale
        [sockets] keine Wand um Sockets
        [limits] keine Grenzen
        [key] keine Wand um den Schlüssel
       *[files] keine Wand um Dateien
    }: { $why }
wall-old-landlock = dieser Kernel hat Version { $version } von Landlock, die das nicht kann: nimm Linux { $kernel } oder neuer
wall-landlock-off = Landlock ist abgeschaltet: nimm es in die Startoption `lsm=` des Kernels auf
wall-no-landlock = dieser Kernel hat kein Landlock: nimm Linux { $kernel } oder neuer
wall-landlock-refused = Landlock wurde verweigert: { $error }
wall-no-namespaces = das System erlaubt keine Namespaces ({ $error }); { $wall ->
        [network] TCP kann geschlossen werden, UDP ist offen
       *[sockets] `/tmp` ist bis auf TMPDIR geschlossen
    }
wall-uncounted = die Prozesse von root zählt nur eine Control Group, und keine konnte angelegt werden
wall-key-in-reach = was der Agent ausführt, kann seinen Schlüssel oder seine Anmeldung lesen
walls-none = keine

### Das Terminal: helix doctor

doctor-configuration = Konfiguration
doctor-no-file = keine helix.toml; es gelten die eingebauten Werte
doctor-agent = Agent { $name }
doctor-install = installiere ihn: { $command }; oder setze `command` in [agents.{ $name }]
doctor-correct = berichtige `command` in [agents.{ $name }] ({ $origin })
doctor-version = Version { $version }
doctor-there = { $program } ist da
doctor-trusted = { $program } gefunden; `trust_exit`: Exit-Status 0 allein gilt als fertig
    .hint = lass ihn einen Ergebnissatz ausgeben (docs/agents.md) und entferne `trust_exit`
doctor-untested = Version { $version }, neuer als die neueste getestete ({ $tested })
    .hint = nicht getestet; bitte melde Probleme
doctor-too-old = Version { $version } ist zu alt
    .hint = aktualisiere ihn auf { $minimum } oder neuer
doctor-no-git = nicht in PATH gefunden
    .hint = installiere git (apt-get install git)
doctor-identity = git-Identität
doctor-no-identity = user.name und user.email sind nicht beide gesetzt
    .hint = git config --global user.name "Dein Name"; git config --global user.email du@example.org
doctor-repository = Repository
doctor-at = { $root }, Commit { $commit }
doctor-no-repository = das Arbeitsverzeichnis ist in keinem
    .hint = `helix run` braucht eines: führe `git init` aus, dann committe
doctor-no-commit = { $root } hat noch keinen Commit
    .hint = `helix run` braucht einen: committe, was da ist
doctor-workspace = Arbeitsplatz
doctor-no-setup = { $file } ist da, aber helix.toml hat kein [workspace] setup: einem frischen Klon fehlt, was damit installiert wird
    .hint =
        ergänze in helix.toml:
        { "[workspace]" }
        setup = ["{ $command }"]
doctor-no-commands = keine Befehle, nur Dateien
doctor-prepared = { $setup } ({ $kept } vorbereitet; { $how })
doctor-shared = gemeinsam für alle Läufe; was ein Lauf ändert, bleibt bei ihm
doctor-copied = wird für jeden Lauf kopiert: die Sandbox hat hier kein overlayfs
doctor-agents = Agenten zugleich
doctor-memory = { $agents }; { $available } MiB Arbeitsspeicher frei
doctor-memory-unknown = { $agents }; der freie Arbeitsspeicher ist unbekannt
    .hint = setze max_agents in [jobs]
doctor-memory-low = { $agents }; jetzt würde keiner starten: nur { $available } MiB Arbeitsspeicher frei
    .hint = mach Arbeitsspeicher frei, bis es { $floor } MiB sind, oder senke memory_floor_mb in [jobs]
doctor-venv = virtuelle Umgebung
doctor-program = { $program } für { $language }
doctor-no-program = nicht in PATH gefunden
    .hint = installiere { $program }; sonst bleiben Gates, die es aufrufen, ohne Ergebnis
doctor-broken = { $path } geht nicht: { $why }
    .hint = sorge dafür, dass `{ $command }` hier geht; sonst bleiben Gates, die es aufrufen, ohne Ergebnis
doctor-no-pytest = `{ $command }` kann nicht laufen: { $why }
    .hint = installiere es für python3: python3 -m pip install pytest, oder aktiviere eine virtuelle Umgebung
doctor-silent = keine Antwort innerhalb von { $seconds } s
doctor-state = Zustandsverzeichnis
doctor-no-state = { $place } gibt es noch nicht
    .hint = nichts zu tun: es wird angelegt, sobald es gebraucht wird
doctor-impossible-state = { $place } lässt sich nicht anlegen
    .hint = wähle ein anderes mit --state-dir
doctor-writable = { $place }, beschreibbar
doctor-token = Token
doctor-private = { $file }, nur für dich lesbar
doctor-readable = { $file } ist für andere lesbar (Modus { $mode })
    .hint = führe `helix doctor --fix` aus oder ändere den Modus der Datei mit chmod auf 600
doctor-fixed = { $found }; behoben
doctor-database = Datenbank
doctor-no-database = noch keine
doctor-host = Host
doctor-process = Prozess { $process }, { $url }
doctor-host-silent = antwortet nicht (Prozess { $process })
    .hint = { host-hangs }
doctor-no-host = es läuft keiner
doctor-next-host = der nächste helix-Befehl übernimmt
doctor-address = Adresse von helix serve
doctor-free = { $address } ist frei
doctor-serves = { $address }: dort lauscht der Host
doctor-taken = { $address } ist belegt
    .hint = wähle eine andere mit --listen oder mit listen in [server]
doctor-no-address = { $address }: { $why }
    .hint = wähle mit listen in [server] eine Adresse dieses Rechners
sandbox-off = Die Sandbox ist aus: setze in deiner Konfiguration `mode` in [sandbox] auf `preferred` oder `required`.
sandbox-held = gehalten haben: { $walls }
sandbox-refused = verweigert
sandbox-possible = MÖGLICH
sandbox-key = einen Schlüssel im Home-Verzeichnis lesen
sandbox-state = das Zustandsverzeichnis lesen
sandbox-record = die Aufzeichnung des eigenen Laufs lesen
sandbox-write = außerhalb des eigenen Verzeichnisses schreiben
sandbox-signal = einem anderen Prozess ein Signal senden
sandbox-keeper = den eigenen Aufsichtsprozess beenden
sandbox-environment = die Umgebung eines anderen Prozesses lesen
sandbox-tmp = eine Datei in /tmp des Rechners sehen
sandbox-network = eine Verbindung aufbauen, wo das Netz geschlossen ist
sandbox-processes = Prozesse ohne Ende starten

### Das Terminal: helix init und demo

init-wrote = angelegt
init-kept = behalten
init-exists = { $kept } { $file } (gibt es schon)
init-next = Weiter: helix do "was zu tun ist"; oder bearbeite plans/example/phases.yaml, prüfe den Plan mit `helix plan check`, committe und starte ihn mit `helix run`
init-agents = Agenten
init-no-agents = keine in PATH; installiere einen davon: { $known }
init-languages = Sprachen
init-no-languages = keine erkannt
init-tests = Tests
init-checks = Prüfungen
init-setup = Einrichtung
init-flat-layout = setuptools hielte adr/ und plans/ hier für Pakete; trage in pyproject.toml ein: [tool.setuptools.packages.find], und darunter: include = { $include }
init-missing = fehlt
init-no-installer = { $program } ist nicht in PATH, und `{ $command }` ({ $file }) braucht es: installiere es und entferne dann das `#` vor diesem `setup` in helix.toml
init-no-program = { $program } ist nicht in PATH, und `{ $command }` ({ $file }) braucht es: installiere es vor dem ersten Job
init-services = Dienste
init-compose = { $file }: starte vor einem Job, was Tests brauchen, mit `docker compose up -d`; die Vorprüfung sagt, was nicht da ist
init-no-tests = keine gefunden: setze den Befehl im Gate tests_pass des Plans
init-repository = git-Repository gefunden
init-inside = { $place } liegt im Repository { $root }: `helix init { $root }` richtet alles ein
init-no-repository = { $place } ist kein Repository: führe vor `helix run` `git init` aus und committe
survey-directory = wegen des Verzeichnisses { $name }
survey-member = wegen des Pakets { $name } des Workspaces
survey-mentions = { $file } nennt pytest
survey-unittest = { $file } benutzt unittest
survey-pytest = { $file } sieht nach einem pytest-Test aus
demo-host = Host: { $url }  Dateien: { $root }
demo-you = du
demo-done =
    Fertig nach { $time }: Aus einem Chat wurden eine Entscheidung (ADR) und ein Plan. Der erste Versuch
    scheiterte an einem echten Test, der Agent bekam die Befunde, der zweite Versuch bestand, ein unabhängiger
    Prüfer nahm ihn an, jedes Kriterium der Entscheidung wurde belegt und das Ergebnis übernommen.
demo-files = Alle Dateien liegen in { $root }; lösche das Verzeichnis, wenn du fertig bist.

### Das Terminal: Pläne, Workflows, Skills

plan-not-now = jetzt nicht möglich
plan-refused = `helix run` würde ihn ablehnen ({ $code }): { $why }
plan-also-refused = außerdem abgelehnt ({ $code }): { $why }
plan-as-it-is = keine älteren Formen und kein Workflow
plan-no-older-forms = keine älteren Formen
plan-line = Zeile { $line }
plan-whole = der ganze Plan in der heutigen Form:
plan-whole-with = der ganze Plan in der heutigen Form, mit den Phasen des Workflows { $workflow }:
plan-next = Weiter: bearbeite ihn, dann `helix plan check { $file }` und `helix run { $file }`
plan-dry-run = { $plan }: { count-phases }, Probelauf
plan-wave =
    Welle { $number }{ $phases ->
        [one] { "" }
       *[other] { " " }(gleichzeitig)
    }
plan-model = { $agent }, Modell { $model }
plan-attempts = Agent { $agent }, { $attempts ->
        [one] 1 Versuch von { $time }
       *[other] bis zu { $attempts } Versuche von je { $time }
    }
plan-exits = `{ $command }` endet mit 0
plan-keeps-exiting = `{ $command }` endet { $time } lang immer mit 0
plan-returns = { $probe } antwortet mit { $status }
plan-returns-text = { $probe } antwortet mit { $status } und enthält { $text }
plan-accepts = { $address } nimmt Verbindungen an
plan-outputs = Outputs { $files }
hook-question = Darf der Agent das mit { $tool } tun? { $call }
hook-yes = ja
hook-no = nein
hook-allowed = eine Person hat diesen Aufruf erlaubt
hook-asked = eine Person wird zu diesem Aufruf gefragt ({ $id }): beende jetzt deinen Zug mit dem Stand deiner Arbeit; du wirst mit der Antwort fortgesetzt und darfst denselben Aufruf dann wiederholen, wenn er erlaubt wurde
hook-refused = { $by } hat diesen Aufruf nicht erlaubt { $words }: komm ohne ihn aus
hook-unanswered = niemand hat rechtzeitig beantwortet, ob dieser Aufruf erlaubt ist ({ $id }): komm ohne ihn aus
hook-not-asked = zu diesem Aufruf konnte niemand gefragt werden ({ $why }): komm ohne ihn aus
means-of-project = allen Agenten dieses Projekts gesagt
means-of-agent = Agent { $agent } außerdem
means-file = { $path } ({ $bytes } Bytes)
means-file-for = { $path } ({ $bytes } Bytes, für { $files })
means-rules = Regeln: { $list }
means-skills = Skills: { $list }
means-servers = Werkzeug-Server: { $list }
means-hooks = Hooks: { $list }
means-allow = zusätzlich erlaubt: { $list }
means-deny = verboten: { $list }
means-ask = fragt zuerst eine Person: { $list }
means-only-told = nur gesagt, nicht erzwungen: { $list }
plan-prompt = Prompt des ersten Versuchs:
plan-adds = fügt { $min } bis { $max } Phasen vom Typ { $kind } hinzu
plan-verify = Prüfung durch Agent { $agent }, bis zu { $time }, nach jedem Versuch, der seine Gates besteht
plan-price = Preis einer Prüfung: { $price }
plan-price-mean =
    { $cost } und { $time }, im Mittel von { $runs } { $runs ->
        [one] Lauf
       *[other] Läufen
    } hier
plan-price-unknown = hier lief noch kein Prüfer; `helix jobs show` nennt ihn hinterher
workflow-none = keine Workflows
workflow-from = aus { $place }
workflow-of-plan = Vorgabe: { $from } des Plans; sonst erforderlich
workflow-default = Vorgabe: { $from } des Plans, sonst { $value }
workflow-required = erforderlich
workflow-next = Weiter: bearbeite ihn, schreib `workflow: { $name }` in einen Plan, dann `helix plan check --explain`
skills-none = keine Skills; einer kommt als skills/NAME/SKILL.md dazu (docs/consultant.md)
skills-project = Projekt
skills-yours = eigener

### Das Terminal: Entscheidungen

adr-next = fülle die Datei aus, dann `helix adr finalize { $file }`
adr-finalized = Weiter: `helix adr accept { $number }`; bis dahin ist es ein Vorschlag
adr-accepted = { $file } hat den Status { $status }, durch { $by }
adr-fill-in = fülle die Datei aus, dann `helix adr accept { $number }`; bis dahin ist es ein Vorschlag
adr-status-is = { $file } hat den Status { $status }
adr-superseded = { $old } ist ersetzt durch { $new }
adr-linked =
    { $link ->
        [supersedes] { $file } ersetzt { $other }
        [depends-on] { $file } hängt von { $other } ab
       *[other] { $file } ist mit { $other } verwandt
    }
adr-not-found = kein ADR enthält alle diese Wörter: { $words }
adr-other-form = { $decisions ->
        [one] { $decisions } Entscheidung hat
       *[other] { $decisions } Entscheidungen haben
    } die Form von { $form }: was nur Helix’ eigene Form hat (Komponente, Klassifikation, Umfang, Akzeptanzkriterien), wird nicht geprüft
adr-summary = { $decisions ->
        [one] { $decisions } Entscheidung
       *[other] { $decisions } Entscheidungen
    }, { $errors ->
        [one] { $errors } Fehler
       *[other] { $errors } Fehler
    }, { $warnings ->
        [one] { $warnings } Warnung
       *[other] { $warnings } Warnungen
    }
adr-site = { $decisions ->
        [one] { $decisions } Entscheidung
       *[other] { $decisions } Entscheidungen
    } geschrieben; öffne die Seite im Browser oder veröffentliche das Verzeichnis
site-decisions = Entscheidungen
site-graph = Graph
site-search = Entscheidungen durchsuchen
site-nothing = Keine Entscheidung enthält alle diese Wörter.
site-date = Datum
site-supersedes = ersetzt
site-depends-on = hängt ab von
site-related-to = verwandt mit
site-superseded-by = ersetzt durch
site-needed-by = gebraucht von
adr-none = keine ADRs in { $place }; eines legst du an mit `helix adr new TITEL`
adr-no-status = unbekannt
adr-met = { $met } von { $criteria }
adr-repaired =
    { $places ->
        [one] { $places } Stelle
       *[other] { $places } Stellen
    } repariert
adr-proved = { $file } hat den Status { $status }: Job { $job } hat { $met } von { $criteria } { $criteria ->
        [one] Kriterium
       *[other] Kriterien
    } belegt (Commit { $commit })
adr-unproved = nicht belegt: { $criterion }
adr-commit = Weiter: committe die Entscheidung und ihren Index
coverage-sum =
    { $covered } von { $concepts } Konzepten { $covered ->
        [one] ist
       *[other] sind
    } in { $target } enthalten
coverage-hint = nimm die fehlenden Konzepte unter Überschriften mit ihrem Namen auf oder sag im Text, warum sie wegbleiben
coverage-missing = { "FEHLT    " }
coverage-covered = enthalten
drift-label = Drift
drift-changed = geändert in { $commit } ({ $subject })
drift-uncommitted = geändert, nicht committet
drift-undecided = ohne Entscheidung
drift-each = seit der letzten Änderung der jeweiligen Entscheidung
drift-since = seit { $since }
drift-sum =
    { $claimed } beanspruchte { $claimed ->
        [one] Datei
       *[other] Dateien
    } geändert, { $undecided } { $undecided ->
        [one] Änderung
       *[other] Änderungen
    } ohne Entscheidung
drift-hint = passe die Entscheidung an und committe sie, oder schreib eine neue, die sie ablöst
drift-shallow = der Klon ist flach: Änderungen vor seinem Anfang sind nicht bekannt; `git fetch --unshallow` hilft
drift-no-decisions = keine Entscheidungen in { $directory }/
renumber-is = { $old } ist jetzt { $new }
renumber-updated = angepasst: { $file }
renumber-look = sieh dir { $place } an: welche Entscheidung meint { $adr } dort?
renumber-none = keine doppelten Nummern
import-shown = es wurde nichts geschrieben; mit --write werden die Dateien geschrieben
import-same = Nummer unverändert
import-taken = { $old } ist vergeben; neue Nummer { $new }
import-number = Nummer { $new }

### Das Terminal: Fehler aus dem Gedächtnis

explain-none = in diesem Log wurde kein Fehler gefunden
    .hint = wenn der Befehl gescheitert ist, sag, wie er endete: --exit N
explain-stdin = Standardeingabe
explain-decided = Entschieden durch
explain-table = Regeltabelle { $table }
explain-line = Zeile { $line }: { $text }
explain-by = durch { $rule }
failures-none = keine passenden Fehler
failures-more = weitere: helix failures list --after { $next }
heading =
    { $of ->
        [id] ID
        [job] Job
        [status] Status
        [phases] Phasen
        [phase] Phase
        [attempts] Versuche
        [gates] Gates
        [time] Zeit
        [cost] Kosten
        [submitted] eingereicht
        [plan] Plan
        [project] Projekt
        [criteria] Kriterien
        [title] Titel
        [runs] Läufe
        [branches] Branches
        [size] Größe
        [setting] Einstellung
        [value] Wert
        [from] Herkunft
        [session] Sitzung
        [last-message] letzte Nachricht
        [began-with] begann mit
        [name] Name
        [description] Beschreibung
        [since] seit
        [file] Datei
        [seen] gesehen
        [last] zuletzt
        [ended] Ende
        [category] Art
        [tool] Werkzeug
        [what] was
        [code] Code
        [place] Stelle
        [failures] Fehler
        [source] Vorschläge aus
        [helped] geholfen
        [no-effect] ohne Wirkung
        [worse] schlechter
        [unknown] unbekannt
        [open] offen
        [rate] Quote
       *[other] { $of }
    }
failures-word =
    { $word ->
        [fixed] behoben
        [went-away] von selbst verschwunden
        [gave-up] aufgegeben
        [open] offen
        [gone] weg
        [seen-again] wieder gesehen
        [shown] gezeigt
        [held-back] zurückgehalten
        [missed] verpasst
        [helped] geholfen
        [no-effect] ohne Wirkung
        [worse] schlechter
        [unknown] unbekannt
        [past-fix] früheren Behebungen
        [cause] der Ursache
        [phase] der Phase
       *[other] { $word }
    }
failures-seen =
    { $times ->
        [one] einmal, am { $last }
       *[other] { $times } Mal, vom { $first } bis zum { $last }
    }
failures-where = Wo
failures-suggestions = Vorschläge
failures-turn = Sitzung { $session }, Antwort { $turn }
failures-gone = Weg in { $place }, nach einer Änderung an { $files }
failures-gone-with = Weg in { $place }, Commit { $commit }, nach einer Änderung an { $files }
failures-forgot = { $id } ist vergessen
failures-forgot-fixes = die Behebungen von { $id } sind vergessen
failures-exported =
    { $records ->
        [one] { $records } Eintrag
       *[other] { $records } Einträge
    } geschrieben
failures-imported =
    { $added ->
        [one] { $added } neuer Eintrag
       *[other] { $added } neue Einträge
    }, { $known } schon bekannt
stats-none = noch keine Daten: es wurde noch kein Fehler aufgezeichnet
stats-sum =
    { $failures } Fehler, { $times } Mal gesehen
stats-ends = { $fixed } behoben, { $gone } von selbst verschwunden, { $given_up } aufgegeben, { $open } offen
stats-effect = Was das Gedächtnis bewirkt
stats-gone = { $gone } von { $of } im nächsten Versuch weg
stats-helps = es hilft
stats-harms = es schadet
stats-undecided = noch nicht entschieden
stats-difference = Unterschied { $difference } Prozentpunkte ({ $low } bis { $high }, mit 95 % Sicherheit)
stats-untried = unerprobt
stats-rate = { $rate } % ({ $low } bis { $high })

### Das Terminal: Logs, Kommentare, Belege

logs-none = es lief noch kein Agent
logs-default-model = sein Standardmodell
logs-started = gestartet: { $model } { $version }
logs-limited = das Limit des Anbieters ist erreicht
logs-retry = API-Wiederholung { $attempt } von { $most }: { $reason }
logs-taken-back = die Verbindung zum Modell brach ab; der Text bis hierher wird neu gesagt
logs-stopped-by-provider = die Schutzregeln des Anbieters haben das Modell gestoppt; es antwortet neu
logs-error = mit einem Fehler beendet
logs-ended = beendet
comment-shown = das würde nach { $url } geschrieben; es wurde nichts geschrieben
comment-posted = geschrieben: { $url }
comment-updated = aktualisiert: { $url }
evidence-written = { $file } geschrieben, signiert mit { $key }
evidence-label =
    { $label ->
        [base] Basis
        [commit] Commit
        [tree] Baum
        [run] Lauf
        [review] Urteil
        [person] Person
        [gate] Gate
        [result] Ergebnis
       *[other] { $label }
    }
evidence-result = { $commit }, Baum { $tree }
left-out-reviewer = ein unabhängiger Prüfer sieht sich das Ergebnis an
left-out-verifier = ein unabhängiger Prüfer sieht sich das Ergebnis an, sobald es die Gates bestanden hat
left-out-person = eine Person wird nach dem Ergebnis gefragt
left-out-outside = es wirkt außerhalb des Repositorys
verify-runs = diese Gates laufen noch einmal, innerhalb der Sandbox:
verify-signed = signiert von { $key } am { $time }
verify-same = dasselbe in { $place }
verify-lacking = es fehlt: { $what }
verify-no-gate = kein Gate dieses Jobs kann noch einmal laufen
verify-proved = geprüft und belegt
verify-unproved = echte Belege, doch der Job ist damit NICHT BELEGT

### Das Terminal: Open WebUI

openwebui-set = gesetzt:
openwebui-unchanged = nichts zu ändern
openwebui-kept = das Token ist abgelegt in { $file }
openwebui-connected = { $page } ist verbunden: alle Header kommen an
openwebui-all = alle Konten dieses Open WebUI können Helix jetzt benutzen; mit --private nur Administratoren
openwebui-no-helix = { $page } antwortet; Helix läuft dafür nicht
openwebui-answers = { $page } antwortet; ist { $variable } gesetzt, wird auch die Verbindung geprüft
openwebui-password = Passwort für Open WebUI
openwebui-token = Token eines Administrators von Open WebUI
openwebui-connection = Verbindung { $address }
openwebui-connection-value = Verbindung: { $value }
openwebui-model-value = Modell { $model }: { $value }
openwebui-model = Modell { $model }, für alle Konten
openwebui-model-private = Modell { $model }, für Administratoren
openwebui-enabled = OpenAI-Verbindungen: eingeschaltet

### Seiten

web-agent-ended = Lauf des Agenten beendet, { $cost }
web-agent-run = Lauf des Agenten:
web-agents = Agenten
web-all-attempts = Alle Versuche
web-answer = Antworten
web-anywhere = jedes Verzeichnis
web-api-retry = Fehler beim Anbieter ({ $reason }); Wiederholung { $attempt } von { $max }
web-attempt = Versuch { $number }
web-attempt-that-counts = Versuch, der zählt
web-bar = { $passed } von { count-phases } bestanden
web-begin = Der erste Job
web-begin-chat = Beschreib, was du willst; der Consultant schreibt Entscheidung und Plan
web-begin-demo = Sieh dir in einer Minute einen ganzen Job an, ohne Konto
web-begin-how = Hier ist noch nichts gelaufen. Im Terminal, in deinem Projekt:
web-begin-plan = Führe einen Plan aus, den du schon hast
web-binary = Binärdatei
web-board = Übersicht
web-bundle = Belege herunterladen
web-cancel = Abbrechen …
web-cancel-now = Job abbrechen
web-cancel-sure = Die Agenten hören auf; was bestanden ist, bleibt, und der Job lässt sich fortsetzen.
web-changed-files = Geänderte Dateien
web-checked-again = gerade neu geprüft
web-checks-open =
    { $gates ->
        [one] 1 steht noch aus
       *[other] { $gates } stehen noch aus
    }
web-close = Schließen
web-code-spent = Diese Adresse wurde schon benutzt oder ist älter als zehn Minuten.
web-commit = Commit
web-confined = eingeschränkt: { $walls }
web-connection-lost = Keine Verbindung zu Helix. Die Seite holt alles nach, sobald sie wieder da ist.
web-cost = Kosten
web-criteria = { $met } von { $criteria } { $criteria ->
        [one] Kriterium
       *[other] Kriterien
    } erfüllt
web-decision = Entscheidung
web-decisions = Entscheidungen
web-doctor = Prüfungen dieses Rechners, mit Abhilfe:
web-events = Ereignisse
web-file-gone = gelöscht
web-file-new = neu
web-files = { count-files } geändert
web-gates = Gates
web-gates-that-passed = Gates
web-go-on = Weiter
web-how-to-log-in = Führe diesen Befehl auf dem Rechner aus, auf dem Helix läuft, und öffne die Adresse, die er ausgibt:
web-how-to-log-in-elsewhere = Mit einem eigenen Schlüssel bekommst du die Adresse über die API: POST /api/v1/logins.
web-integrated = Übernommen als
web-items-left-out =
    { $items ->
        [one] 1 früherer Eintrag ist nicht gezeigt; alle zeigt:
       *[other] { $items } frühere Einträge sind nicht gezeigt; alle zeigt:
    }
web-jobs-of-decision = Jobs dazu
web-journal = Journal
web-key-back = zurück
web-key-help = diese Tasten zeigen
web-key-move = nächster, vorheriger
web-key-open = öffnen
web-key-search = suchen
web-key-answer = die erste Frage beantworten
web-keys = Tasten
web-kind-agent = Rückfrage
web-kind-approval = Freigabe
web-kind-conflict = Konflikt
web-kind-escalation = Entscheidung nötig
web-lane =
    { $lane ->
        [needs] Wartet auf dich
        [running] Läuft
        [proven] Belegt
       *[otherwise] Anders beendet
    }
web-lane-empty =
    { $lane ->
        [needs] Nichts wartet auf dich.
        [running] Nichts läuft.
        [proven] Noch nichts ist belegt.
       *[otherwise] Keine.
    }
web-large-file = { $lines } Zeilen, nicht mit den anderen gezeigt.
web-limited = Das Limit des Anbieters ist erreicht
web-limited-until = Das Limit des Anbieters ist bis zum { $until } erreicht
web-log-in = Anmelden
web-log-in-again = Zum erneuten Anmelden:
web-log-out = Abmelden
web-logged-in = Angemeldet
web-logged-out = Abgemeldet
web-no-activity = Der Agent hat noch nichts getan.
web-no-attempt = Diese Phase hat noch nicht begonnen.
web-no-changes = Nichts wurde geändert.
web-no-changes-yet = Es gibt noch kein Ergebnis.
web-no-checks = Für diesen Versuch lief noch keine Prüfung.
web-no-decisions = Deine Projekte haben noch keine Entscheidungen. Der Consultant schreibt die erste mit dir:
web-no-jobs-of-decision = Noch keine.
web-no-lines = Keine Zeile geändert: Die Datei ist leer, oder nur ihr Modus ist anders.
web-no-prompt = Zu diesem Versuch gibt es keinen Prompt.
web-no-questions = Nichts wartet auf eine Antwort.
web-no-such-decision = Diese Entscheidung gibt es nicht
web-not-proved = als Ganzes nicht belegt
web-on-tree = auf Baum
web-output-changed = Ausgabe seither geändert
web-output-intact = Ausgabe unverändert
web-output-missing = Ausgabe fehlt
web-pages = Seiten
web-persons = Antworten
web-phases = Phasen
web-places = { $taken } von { $places } belegt, { $waiting } { $waiting ->
        [one] wartet
       *[other] warten
    }
web-places-title = Plätze
web-process = Prozess
web-questions = Fragen
web-refused = Nicht erlaubt
web-resume = Fortsetzen
web-retry = Wiederholen …
web-retry-now = Phase erneut ausführen
web-retry-sure = Sie läuft erneut, und alle Phasen, die auf ihr aufbauen, auch.
web-review = Prüfung durch einen Agenten
web-roots = Projekte in
web-search = Jobs suchen
web-see-changes = Änderungen ansehen
web-sessions = Chats
web-show-file = Zeigen
web-since = Gestartet
web-skip = Zum Inhalt
web-submitted = Eingereicht
web-system = System
web-tab-activity = Verlauf
web-tab-changes = Änderungen
web-tab-checks = Prüfungen
web-tab-evidence = Belege
web-tab-prompt = Prompt
web-terminal = Im Terminal
web-thinking = Überlegung
web-this-host = Dieser Host
web-time = Dauer
web-timeline = Zeitleiste
web-to-board = Zur Übersicht
web-tree = Baum
web-trouble = Das ging nicht
web-verify-bundle = Jeder kann das Paket prüfen mit
web-whole-job = Der ganze Job
web-your-words = In eigenen Worten
serve-pages = Seiten: { $url }  (meldet dich einmal an, innerhalb von 10 Minuten; erneut: helix open)
open-at = { $url }  (meldet dich einmal an, innerhalb von 10 Minuten)
open-no-browser = Kein Browser ließ sich starten: öffne die Adresse selbst.

### Was Gates finden

gate-more-findings =
    { $more ->
        [one] 1 weiterer Befund wird nicht gezeigt
       *[other] { $more } weitere Befunde werden nicht gezeigt
    }
gate-cancelled = die Prüfung wurde abgebrochen
gate-broken = die Prüfung selbst ist gescheitert: { $why }
gate-delivers-nothing = das Gate { $gate } liefert nichts aus
gate-unchecked = das Gate { $gate } prüft Helix nicht
    .hint = das ist ein Fehler in Helix: bitte melde ihn
gate-parser-panicked = ein Parser ist an einer der Dateien abgestürzt
gate-no-thread = kein Thread dafür: { $error }
gate-no-answer = ihr Thread endete ohne Antwort
gate-source-unread = { $path } wurde nicht gelesen: { $error }
gate-source-no-process = kein Prozess liest { $path }: { $error }
gate-source-too-long = damit brauchen die Quelltexte dieser Prüfung zu lange
gate-source-unchecked = { $path } lässt sich nicht prüfen: { $why }
    .hint = teile die Datei in kleinere auf, die weniger tief verschachtelt sind
gate-print-less = lass die Tests weniger ausgeben
gate-tests-output = die Ausgabe der Tests
gate-old-report = der alte Bericht { $report } lässt sich nicht entfernen: { $error }
gate-output-unreadable = ihre Ausgabe lässt sich nicht lesen: { $error }
gate-end-exit = Exit { $code }
gate-end-signal = Signal { $signal }
gate-end-time = Zeit abgelaufen
gate-end-output = zu viel ausgegeben
gate-end-memory = zu viel Speicher belegt
gate-end-cancelled = abgebrochen
gate-command-unreadable = der Befehl { $command } lässt sich nicht ausführen: { $why }
gate-program-unfound = { $program } fand ein benötigtes Programm nicht (Exit 127): { $said }
    .hint = installiere das Programm im PATH der Gates (siehe `helix doctor`). Wo git es ignoriert, wie in node_modules, fehlt es in einem sauberen Checkout: trage `setup = ["npm ci"]` unter [workspace] in helix.toml ein
gate-module-unfound = { $program }: { $said }
    .hint = installiere das Modul dort, wo Gates es finden (`helix doctor`): in der virtuellen Umgebung oder für das python aus dem PATH
gate-program-not-executable = { $program } oder ein aufgerufenes Programm ist nicht ausführbar (Exit 126): { $said }
    .hint = mach das Skript ausführbar, committe seinen Modus und starte einen neuen Job (`helix run`): dieser behält den Commit, mit dem er begann
gate-command-too-long = { $program } brauchte länger als { $seconds } s und wurde angehalten
    .hint = gib dem Gate ein längeres `timeout` oder beschleunige, was es ausführt
gate-command-output = { $program } gab mehr als { $size } MiB aus und wurde angehalten
    .hint = lass den Befehl weniger ausgeben
gate-command-memory = { $program } belegte mehr Speicher, als ein Lauf darf, und wurde angehalten
    .hint = senke den Bedarf, etwa mit weniger Prozessen zugleich, oder erhöhe `max_memory_mb` unter [sandbox] in deiner eigenen Konfiguration
gate-command-killed = { $program } wurde von außen beendet (Signal { $signal })
    .hint = prüfe, ob Speicher fehlte (`dmesg`), oder lass weniger Phasen zugleich laufen, dann versuche es noch einmal
gate-setup-failed = `{ $command }`, das die Arbeitsumgebung einrichtet, scheitert mit den Abhängigkeiten, die das Ergebnis nennt
    .hint = ändere die Dateien, die Abhängigkeiten nennen, samt ihrer Lock-Datei so, dass der Befehl in einem frischen Klon gelingt
gate-command-ended = `{ $command }`: { $how }
gate-command-failed = `{ $command }` ist fehlgeschlagen ({ $how })
    .hint = behebe, was die Ausgabe nennt, und führe den Befehl selbst aus, bis er mit 0 endet
gate-command-not-phases = `{ $command }` schlug schon vor dem Job aus demselben Grund fehl ({ $how }): das liegt nicht an der Phase
    .hint = behebe es vor dem Job, lass es von einer Phase beheben oder lass den Befehl nur ansehen, was der Job ändert
gate-command-new-lines = `{ $command }` schlug schon vor dem Job fehl; gezeigt werden die neuen Zeilen
gate-command-as-before = `{ $command }` schlug schon vor dem Job aus demselben Grund fehl
gate-command-cannot = `{ $command }` kann nicht laufen: { $why }
gate-files-hidden = Dateien des Jobs bleiben der Prüfung verborgen
gate-check-changed = die Prüfung selbst wurde geändert
gate-leftovers =
    { $processes ->
        [one] 1 Prozess, den der Befehl laufen ließ, wurde beendet
       *[other] { $processes } Prozesse, die der Befehl laufen ließ, wurden beendet
    }
gate-sandbox = falls die Sandbox es verweigert hat: füge den Pfad in [sandbox] deiner eigenen helix.toml zu `writable` oder `readable` hinzu (docs/sandbox.md)
gate-decides =
    { $path } bestimmt mit, wie `{ $command }` prüft, und wurde { $how ->
        [added] hinzugefügt
        [deleted] gelöscht
       *[changed] geändert
    }, aber kein Output der Phase beansprucht diese Datei
    .hint =
        { $how ->
            [added] entferne { $path } oder lege das Nötige in Dateien, die die Phase beansprucht
            [deleted] stelle { $path } wieder her und sorge dafür, dass die Prüfung so bestanden wird, wie sie war; soll die Datei wegfallen, deckt ein Muster in `outputs` sie und ihren Ersatz ab
           *[changed] nimm jede Änderung an { $path } zurück und sorge dafür, dass die Prüfung so bestanden wird, wie sie war; ist die Änderung nötig, muss der Plan sie beanspruchen
        }
gate-decides-claimed =
    { $path } bestimmt mit, wie `{ $command }` prüft, und wurde vom Job { $how ->
        [added] hinzugefügt
        [deleted] gelöscht
       *[changed] geändert
    }; der Plan erlaubt das
gate-decides-free =
    { $path } bestimmt mit, wie `{ $command }` prüft, und wurde vom Job { $how ->
        [added] hinzugefügt
        [deleted] gelöscht
       *[changed] geändert
    }; kein Output schließt das aus
gate-hides = { $by } verbirgt { $path }, eine vom Job geänderte Datei, vor Werkzeugen, die Dateien suchen
    .hint = nimm dieses Muster zurück; sollen diese Dateien ausgelassen werden, nennt der Plan diese Datei mit ihrem ganzen Pfad in `outputs`
gate-elsewhere-wanted = { $program } will { $path } lesen: das ist dein Arbeitsverzeichnis, nicht das Ergebnis, das das Gate prüft
gate-elsewhere-read = { $program } hat womöglich { $path } gelesen: das ist dein Arbeitsverzeichnis, nicht das Ergebnis, das das Gate prüft
gate-elsewhere-python = eine editierbare Installation führt dorthin: installiere das Ergebnis selbst im Befehl des Gates (`sh -c 'pip install -q --no-deps . && pytest'`) oder das Paket ohne `-e`
gate-elsewhere-node = `npm link`, NODE_PATH oder ein verlinktes Paket führt dorthin: nenne das Paket mit seinem relativen Pfad (`file:`, Workspaces) und installiere es im Checkout (`setup = ["npm ci"]` unter [workspace] in helix.toml)
gate-elsewhere-path = eine Abhängigkeit ist mit ihrem absoluten Pfad genannt (`path` oder `[patch]` von Cargo, `replace` oder `use` von Go): nenne ihren Pfad relativ zur Datei
gate-elsewhere-other = suche in der Konfiguration des Werkzeugs, in einem Link oder einer Variablen nach einem absoluten Pfad und nenne ihn relativ zum Repository. Was Gates von außerhalb brauchen, trage in `readable` unter [sandbox] in deiner eigenen helix.toml ein
gate-registry-unreached = `{ $command }` erreicht { $host } nicht
    .hint = prüfe das Netz, einen Proxy (HTTPS_PROXY) oder Spiegel (PIP_INDEX_URL, NPM_CONFIG_REGISTRY, …) der Shell, die Helix gestartet hat, und `network` unter [sandbox]; was [workspace] setup installiert, braucht später kein Netz
gate-submodule-absent = `{ $command }` nennt `{ $path }`, ein Submodul, das nicht in deinem Repository ist
    .hint = hole es mit `git submodule update --init --recursive`; hat es ein eigenes Verzeichnis `.git`, mit `git submodule absorbgitdirs`
gate-lfs-absent = `{ $command }` nennt `{ $path }`, eine Datei von Git LFS, von der hier nur der Zeiger liegt
    .hint = hole sie mit `git lfs pull`; von einem Commit nimmt Helix höchstens 20.000 solcher Dateien mit 16 GiB
gate-service-composed = `{ $command }` braucht { $name } an Port { $port } dieses Rechners, wo niemand lauscht
    .hint = starte den Dienst mit `docker compose up -d { $service }` oder gib jedem Lauf einen eigenen, unter [workspace.services] in helix.toml
gate-service-down = `{ $command }` braucht { $name } an Port { $port } dieses Rechners, wo niemand lauscht
    .hint = starte den Dienst oder gib jedem Lauf einen eigenen, unter [workspace.services] in helix.toml
gate-lacks = trage unter [workspace] in helix.toml ein: { $keys }
gate-lacks-installer = installiere { $program }, das installiert, was { $file } nennt, und trage unter [workspace] in helix.toml ein: { $keys }
gate-lacks-both = trage unter [workspace] in helix.toml ein: { $setup } und { $copy }
gate-lacks-venv = schreib den Befehl ohne `{ $path }/bin/`: Gates finden die Programme der virtuellen Umgebung im PATH
gate-lacks-directory = lass `{ $path }/` von `setup` unter [workspace] in helix.toml anlegen oder trage dort `copy = ["{ $path }"]` ein
gate-unprepared =
    `{ $command }` kann in einem sauberen Checkout nicht laufen: git ignoriert { $shown }, und { $names ->
        [one] damit
       *[other] mit ihnen
    } läuft der Befehl
gate-unprepared-tests =
    { $tests ->
        [one] 1 Test scheitert
       *[other] { $tests } Tests scheitern
    } bei `{ $command }` in einem sauberen Checkout nur, weil git { $shown } ignoriert und { $names ->
        [one] das
       *[other] sie
    } dort { $names ->
        [one] fehlt
       *[other] fehlen
    }: { $failed }
gate-counted = { $passed } bestanden, { $failed } gescheitert ({ $how })
gate-adr-none = kein ADR zu prüfen: der Plan nennt keines und die Phase hat keines geändert
    .hint = nenne das ADR im Plan (`adr:`) oder in `files` des Gates
gate-adr =
    { $decisions ->
        [one] 1 Entscheidung
       *[other] { $decisions } Entscheidungen
    }, { $errors } Fehler
gate-conflicts-nothing = es gibt keine Datei anzusehen
    .hint = nenne die Dateien, die in Konflikt standen
gate-conflict-marker = eine Konfliktmarkierung ist übrig: { $marker }
    .hint = führe beide Seiten zusammen und entferne die Zeilen mit Markierungen
gate-conflicts-none =
    keine Konfliktmarkierung in { $files ->
        [one] { $files } Datei
       *[other] { $files } Dateien
    }
gate-conflicts-left =
    { $markers ->
        [one] { $markers } Konfliktmarkierung
       *[other] { $markers } Konfliktmarkierungen
    } übrig
gate-delivery-unset = die Variable { $name }, die `pass_env` des Gates nennt, ist für den Host nicht gesetzt
    .hint = starte den Host (`helix serve`, `helix run`) mit gesetzter Variable { $name }
gate-delivery-program = das Programm { $program } wurde nicht gefunden
    .hint = installiere { $program } dort, wo Helix es findet: `helix doctor` zeigt den PATH
gate-delivered =
    { $commands ->
        [one] 1 Befehl
       *[other] { $commands } Befehle
    } und { $probes ->
        [one] 1 Probe
       *[other] { $probes } Proben
    }
gate-healthy = gesund
gate-rolled-back =
    mit { $commands ->
        [one] { $commands } Befehl
       *[other] { $commands } Befehlen
    } zurückgenommen
gate-unhealthy = nicht gesund: { $step }: { $seen }
    .hint = sieh dir die Ausgabe des Befehls und das Ziel an
gate-delivery-failed = { $step } ist fehlgeschlagen ({ $seen })
    .hint = behebe, was die Ausgabe nennt; was der Befehl bis dahin bewirkt hat, bleibt
gate-delivery-unknown = { $why }: was er bewirkt hat, ist unbekannt
gate-probe-failed =
    { $probe }: { $seen }{ $attempts ->
        [one] { "" }
       *[other] , nach { $attempts } Versuchen
    }
    .hint = behebe die Ursache oder gib dem Gate mehr `retries`, wenn es länger braucht
gate-status = Status { $status }
gate-status-other = Status { $status }, nicht { $wanted }
gate-status-without = Status { $status }, ohne { $missing }
gate-status-none = keine Antwort ({ $how })
gate-connected = verbunden
gate-connected-not = keine Antwort innerhalb von { $seconds } s
gate-docs-code = { $place }: `{ $path }` ist nicht im Repository
gate-docs-anchor = { $target } hat keine Überschrift #{ $anchor }
    .hint = verweise auf eine vorhandene Überschrift
gate-docs-gone = { $target } führt zu { $path }; das ist nicht im Ergebnis
    .hint = lege die Datei an oder entferne den Verweis
gate-did-you-mean = meintest du { $near }?
gate-docs-none = die Phase hat keine Markdown-Datei geändert
    .hint = entferne `docs_refs_valid` aus Phasen, die keine Dokumentation schreiben
gate-docs =
    { $documents ->
        [one] { $documents } Dokument
       *[other] { $documents } Dokumente
    }, { $links ->
        [one] { $links } lokaler Link
       *[other] { $links } lokale Links
    }, davon { $broken } defekt
gate-files-nothing = es gibt keine Datei zu suchen: das Gate nennt keine und die Phase beansprucht keine Outputs
    .hint = nenne Dateien im Gate oder in `outputs` der Phase
gate-files-dangling = { $path } ist ein Link auf { $target }; das ist nicht im Ergebnis
    .hint = ersetze ihn durch die Datei oder verweise auf eine Datei des Repositorys
gate-files-empty = { $path } ist leer
    .hint = schreib den Inhalt oder entferne die Datei aus dem Gate, wenn sie nicht gebraucht wird
gate-files-missing = { $path } ist nicht im Ergebnis
    .hint = lege die Datei im Repository unter genau diesem Pfad an und trage sie nicht in .gitignore ein
gate-files-near = lege die Datei an; meintest du { $near }?
gate-files-there =
    { $files ->
        [one] { $files } Datei
       *[other] { $files } Dateien
    } vorhanden
gate-files-not-there =
    { $files ->
        [one] { $files } Datei fehlt oder ist leer
       *[other] { $files } Dateien fehlen oder sind leer
    }
gate-outputs-none = die Phase beansprucht keine Outputs
    .hint = nenne in `outputs` der Phase, was sie anlegen oder ändern soll
gate-outputs-unchanged = { $path } ist als Output beansprucht, aber die Phase hat es nicht geändert
    .hint = ändere diese Datei, wie der Plan es verlangt; andere Dateien und solche in .gitignore zählen nicht
gate-outputs-deleted = { $path } ist als Output beansprucht, aber die Phase hat es gelöscht
    .hint = lege die Datei mit dem neuen Inhalt wieder an
gate-outputs-besides =
    { $path } wurde außerhalb der beanspruchten Outputs { $how ->
        [added] hinzugefügt
        [deleted] gelöscht
       *[changed] geändert
    }
gate-outputs-outside =
    { $path } wurde { $how ->
        [added] hinzugefügt
        [deleted] gelöscht
       *[changed] geändert
    }, aber die Phase beansprucht es nicht
    .hint = nimm diese Änderung zurück; ist sie nötig, muss der Plan sie beanspruchen
gate-outputs =
    { $outputs ->
        [one] 1 Output
       *[other] { $outputs } Outputs
    } angegeben, { $others ->
        [0] keine anderen Dateien geändert
        [one] 1 andere Datei geändert
       *[other] { $others } andere Dateien geändert
    }
gate-outputs-problems =
    { $problems ->
        [one] 1 Problem
       *[other] { $problems } Probleme
    }: { $summary }
gate-syntax-long = { $path } ist größer als { $size } MiB und wurde nicht geparst
gate-syntax-encoding = die Datei ist kein gültiges UTF-8
    .hint = speichere sie als UTF-8
gate-syntax-template = { $path } ist eine Vorlage und wurde nicht als YAML geparst
gate-syntax-as-before = { $path } lässt sich mit der eingebauten Grammatik nicht parsen, wie schon vor dem Job
gate-syntax-valid = mach die Datei zu gültigem { $language }
gate-syntax-unknown = in keiner bekannten Sprache: { $files }
gate-syntax-good =
    { $files ->
        [one] { $files } Datei
       *[other] { $files } Dateien
    } fehlerfrei geparst
gate-syntax-bad =
    { $errors } Syntaxfehler in { $files ->
        [one] { $files } Datei
       *[other] { $files } Dateien
    }
gate-syntax-none-among = unter { $files } ließ sich keine von der Phase geänderte Datei parsen
    .hint = prüfe `files` des Gates; sie werden mit den Dateien verglichen, die die Phase geändert hat
gate-syntax-none-known =
    { $files ->
        [one] die geänderte Datei ist in keiner Sprache
       *[other] keine der { $files } geänderten Dateien ist in einer Sprache
    }, die sich parsen lässt
    .hint = gib dieser Phase andere `gates`: `files_exist` oder einen `command`, der solche Dateien prüft
gate-syntax-deleted =
    { $files ->
        [one] { $files } Datei
       *[other] { $files } Dateien
    } gelöscht, nichts mehr zu parsen
gate-syntax-nothing = die Phase hat keine Datei geändert
    .hint = prüfe, was der Agent getan hat; ist das richtig, entferne `syntax_check`
gate-criterion-bare = das Kriterium { $criterion } hat keinen Beleg
gate-criterion-write = schreib einen Test dafür und beende das Kriterium in { $path } mit seinem Beleg: `— test: tests/test_x.py::test_y`, `(file: docs/x.md)` oder `(command: x --check)`
gate-criterion-own = { $criterion } bekam seinen Test von der Phase selbst
gate-criteria-no-adr = der Plan nennt kein ADR und hat deshalb keine Kriterien
    .hint = trage es im Plan ein: `adr: adr/012-title.md`
gate-criteria-adr-gone = { $path } ist nicht in dem Commit, von dem die Phase ausging
    .hint = committe das ADR vor dem Job oder lass es von einer früheren Phase schreiben
gate-hint-criteria = schreib Kriterien mit Kästchen unter `## Acceptance criteria`: `- [ ] …`; in MADR genügt `### Confirmation`
gate-criteria-none = { $path } hat keine Akzeptanzkriterien mit Kästchen
    .hint = { gate-hint-criteria }
gate-criteria-none-madr = { $path } sagt in keinem Abschnitt Confirmation, wie es bestätigt wird, und hat keine Akzeptanzkriterien
    .hint = { gate-hint-criteria }
gate-criteria-none-nygard = { $path } hat keinen Abschnitt Acceptance criteria mit Kästchen
    .hint = { gate-hint-criteria }
gate-criterion-unmet = das Kriterium { $criterion } ist nicht erfüllt: { $why }
gate-criterion-unchecked = { $place }: { $proof } ließ sich nicht prüfen: { $why }
gate-criteria-met =
    { $criteria ->
        [one] 1 Kriterium von { $path }, belegt
       *[other] { $criteria } Kriterien von { $path }, alle belegt
    }
gate-criteria-unmet =
    { $criteria ->
        [one] 1 Kriterium
       *[other] { $criteria } Kriterien
    } von { $path }, {
    $findings ->
        [one] 1 Befund
       *[other] { $findings } Befunde
    }
gate-criterion-exit = `{ $command }` endete mit { $how }, nicht mit Exit { $exit }
    .hint = behebe, was die Ausgabe nennt, und führe den Befehl selbst aus
gate-criterion-empty = { $path } ist leer
    .hint = schreib den Inhalt
gate-criterion-missing = { $path } ist nicht im Ergebnis
    .hint = lege die Datei im Repository unter genau diesem Pfad an
gate-criterion-there =
    { $files ->
        [one] vorhanden
       *[other] { $files } Dateien vorhanden
    }
gate-hint-test-name = nenne den Test mit seiner Datei oder schreib den Befehl, der ihn ausführt: `— test: `<Befehl>``
gate-criterion-unknown = Helix weiß nicht, wie der Test { $test } auszuführen ist
    .hint = { gate-hint-test-name }
gate-criterion-no-name = { $test } ist nicht der Name eines Tests
    .hint = { gate-hint-test-name }
gate-hint-fix-test = berichtige den Code, bis der Test besteht
gate-criterion-failures = `{ $command }` meldet gescheiterte Tests
    .hint = { gate-hint-fix-test }
gate-criterion-failed = gescheitert: { $tests }
    .hint = { gate-hint-fix-test }
gate-criterion-no-test = `{ $command }` hat keinen Test ausgeführt ({ $how })
    .hint = schreib den Test, den das Kriterium nennt, unter genau diesem Namen und committe ihn
gate-criterion-command = `{ $command }` ist fehlgeschlagen ({ $how })
    .hint = behebe, was die Ausgabe nennt
gate-criterion-passed = { $tests } bestanden
gate-criterion-uncounted = `{ $command }` gibt nicht aus, wie viele Tests liefen
    .hint = verwende einen Runner, dessen Zusammenfassung Helix liest (docs/gates.md)
gate-criterion-none-ran = `{ $command }` hat keinen Test ausgeführt
    .hint = schreib die Tests, die das Kriterium verlangt
gate-criterion-not-shown = `{ $command }` zeigt `{ $missing }` nicht
    .hint = berichtige den Code so, dass die Ausgabe genau diesen Text enthält
gate-criterion-shown = { $how }, mit der erwarteten Ausgabe
gate-hint-runner = lass den Runner von selbst enden und lass sonst nichts ausgeben, was wie seine Zusammenfassung aussieht
gate-doubt-ended = laut Ausgabe { $passed ->
        [one] hat 1 Test
       *[other] haben { $passed } Tests
    } bestanden, aber der Runner wurde beendet, bevor er seinen eigenen Bericht schrieb
    .hint = { gate-hint-runner }
gate-doubt-better = laut Ausgabe haben { $passed } bestanden und sind { $failed } gescheitert, laut dem Bericht des Runners aber { $really_passed } und { $really_failed }
    .hint = { gate-hint-runner }
gate-doubt-summaries = die Ausgabe hat { $runs } Zusammenfassungen, aber unittest gibt eine aus
    .hint = { gate-hint-runner }
gate-flaky = { $tests }: gescheitert, aber sofort danach auf denselben Dateien bestanden
    .hint = sorge dafür, dass der Test oder das Getestete jedes Mal dieselbe Antwort gibt
gate-flaky-own = die Tests der Phase sind unbeständig
gate-flaky-fault = unbeständig: { $why }
    .hint = sorge dafür, dass diese Tests jedes Mal dieselbe Antwort geben, oder setze `flaky: note` im Gate, dann führe `helix jobs resume` aus
gate-tests-broken = `{ $command }` ist fehlgeschlagen ({ $how }), bevor Tests laufen konnten
    .hint = behebe, was die Ausgabe nennt, dann führe den Befehl selbst aus
gate-tests-uncounted = `{ $command }` endete mit { $how }, aber die Ausgabe nennt keine Zahl von Tests: nichts belegt, dass welche liefen
    .hint = verwende einen Runner, dessen Zusammenfassung Helix liest (docs/gates.md), lass ihn JUnit-XML schreiben oder verwende das Gate `command`
gate-tests-none = `{ $command }` hat keinen Test ausgeführt ({ $skipped } ausgelassen)
    .hint = prüfe, ob die Tests dort liegen, wo der Befehl sie sucht, und ob sie committet sind
gate-before-not-run =
    nichts zum Vergleichen: vor { $since ->
        [job] dem Job
       *[phase] der Phase
    }: { $why }
gate-before-time =
    nichts zum Vergleichen: vor { $since ->
        [job] dem Job
       *[phase] der Phase
    } brauchte der Befehl zu lange
gate-before-output =
    nichts zum Vergleichen: vor { $since ->
        [job] dem Job
       *[phase] der Phase
    } gab der Befehl zu viel aus
gate-before-memory =
    nichts zum Vergleichen: vor { $since ->
        [job] dem Job
       *[phase] der Phase
    } belegte der Befehl zu viel Speicher
gate-before-none =
    nichts zum Vergleichen: vor { $since ->
        [job] dem Job
       *[phase] der Phase
    } gab es keine Tests
gate-failed-before = { $test } scheiterte schon vor dem Job
gate-tests-unnamed =
    { $tests ->
        [one] 1 gescheiterter Test ohne erkennbaren Namen; er zählt
       *[other] { $tests } gescheiterte Tests ohne erkennbaren Namen; sie zählen
    } als neu
gate-tests-exit = `{ $command }` ist fehlgeschlagen ({ $how }), obwohl kein neuer Test gescheitert ist
    .hint = sieh dir das Ende der Ausgabe an: eine Grenze der Abdeckung, eine Warnung, die als Fehler gilt, oder ein Absturz
gate-tests-old = { $counts } ({ $old } davon schon vor dem Job)
gate-tests-still-fail =
    { $tests ->
        [one] 1 Test scheiterte
       *[other] { $tests } Tests scheiterten
    } vor dem Job und { $tests ->
        [one] scheitert
       *[other] scheitern
    } noch immer: { $shown }
    .hint = behebe das; was nicht zur Aufgabe gehört, kommt in `known_failures` dieses Gates im Plan
gate-hint-fix-code = berichtige den Code; ändere den Test nur, wenn er der Aufgabe widerspricht
gate-test-failed = { $test } ist gescheitert
    .hint = { gate-hint-fix-code }
gate-test-broken-earlier = { $test } ist gescheitert (auch vor dieser Phase, aber nicht vor dem Job: eine frühere Phase ist die Ursache)
    .hint = { gate-hint-fix-code }
gate-test-fixed-earlier = { $test } ist gescheitert (wie vor dem Job; eine frühere Phase hatte das behoben)
    .hint = { gate-hint-fix-code }
gate-tests-fewer =
    vor { $since ->
        [job] dem Job
       *[phase] der Phase
    } { $before ->
        [one] lief 1 Test
       *[other] liefen { $before } Tests
    }, jetzt nur noch { $now }
    .hint = stelle die entfernten Tests wieder her; berichtige einen falschen Test, statt ihn zu löschen
gate-tests-skipped =
    vor { $since ->
        [job] dem Job
       *[phase] der Phase
    } { $before ->
        [0] wurde kein Test
        [one] wurde 1 Test
       *[other] wurden { $before } Tests
    } ausgelassen, jetzt { $now }
    .hint = entferne die neuen Skip-Markierungen und sorge dafür, dass diese Tests bestehen
gate-undecided = Tests bestehen auch, wo sie andere Werte erwarten ({ $tests }): was der Code liefert, gilt auch mit anderen Werten als gleich, oder er kennt seine Tests oder entscheidet an ihrer Stelle
    .hint = sorge dafür, dass der Code das Richtige und nichts anderes liefert; lassen sich diese Tests so nicht befragen, setzt der Plan `control: off` in diesem Gate
gate-hint-aware = lass den Code dasselbe tun, was auch immer seine Tests sagen
gate-aware = Tests scheitern ({ $tests }), wo andere Tests andere Werte erwarten; das war zu Beginn des Jobs nicht so: der Code sieht seine Tests an
    .hint = { gate-hint-aware }
gate-aware-ended = kein Test läuft, wo andere Tests andere Werte erwarten; das war zu Beginn des Jobs nicht so: der Code sieht seine Tests an
    .hint = { gate-hint-aware }
gate-not-deciding = die Tests entscheiden nicht
gate-former = { $tests } scheiterten zu Beginn des Jobs, und ihre früheren Fassungen scheitern noch immer: geändert wurden die Tests, nicht der Code
    .hint = sorge dafür, dass der Code die Tests besteht, wie sie waren; sollen sie geändert werden, nennt der Plan ihre Datei mit ganzem Pfad in `outputs` oder setzt `weaker_tests: note` in diesem Gate
gate-former-fail = die früheren Fassungen von { $tests } scheitern mit diesem Code, die geänderten bestehen: prüfe, was sie jetzt verlangen
gate-former-changed = geändert wurden die Tests, nicht das, was sie testen
gate-hint-writes-code = gib dieses Gate einer Phase, die Code schreibt
gate-mutation-no-source = die Phase hat keinen Quelltext geändert, den der Befehl testet; es gibt nichts, worin sich Fehler einbauen lassen
    .hint = { gate-hint-writes-code }
gate-mutation-none = in die geänderten Zeilen von { $files } lässt sich kein Fehler einbauen
    .hint = { gate-hint-writes-code }
gate-mutation-unclean = `{ $command }` besteht auf dem Ergebnis selbst nicht ({ $how }, { $passed ->
        [one] 1 Test
       *[other] { $passed } Tests
    } bestanden)
    .hint = setze `tests_pass` mit demselben Befehl vor dieses Gate
gate-mutation-tried = in den geänderten Zeilen mögliche kleine Fehler: { $possible }; { $tried } versucht: { $killed } bemerkt, { $slow } bis zum Zeitlimit gelaufen, { $survived } nicht bemerkt, { $unbuilt } nicht zu bauen
gate-hint-longer = gib dem Gate ein längeres `timeout` oder lass seinen Befehl nur die Tests des Geänderten ausführen
gate-mutation-few = die Zeit war nach { $viable } von { $possible } eingebauten Fehlern um: zu wenige für eine Aussage
    .hint = { gate-hint-longer }
gate-mutation-slow = jeder eingebaute Fehler lief bis zum Zeitlimit oder ließ sich nicht bauen: nichts zeigt, was die Tests bemerken
    .hint = { gate-hint-longer }
gate-mutation-unbuilt = keiner der eingebauten Fehler ließ sich bauen und testen: nichts zeigt, was die Tests bemerken
    .hint = baue selbst eine geänderte Zeile mit einem kleinen Fehler und sieh dir die Ausgabe des Befehls an; lass das Gate weg, wo der Compiler alle zurückweist
gate-mutation = die Tests bemerken { $killed } von { $viable } eingebauten Fehlern, verlangt sind mindestens { $wanted } %
gate-mutation-survived = kein Test bemerkt, wenn aus `{ $before }` `{ $after }` wird
    .hint = schreib einen Test, der mit diesem Fehler scheitert und ohne ihn besteht; tut der Code damit dasselbe, kann der Fehler außer Acht bleiben
gate-unclaimed = die Tests bestehen nur mit der Änderung an { $path }, die kein Output der Phase beansprucht
    .hint = nimm diese Änderungen zurück und sorge dafür, dass die Tests mit dem bestehen, was die Phase beansprucht; sind die Änderungen nötig, muss der Plan sie beanspruchen
gate-unclaimed-changes = die Tests bestehen nur mit Änderungen, die die Phase nicht beansprucht
gate-control-none = in { $files } ließ sich keine Funktion dazu bringen, Unsinn zurückzugeben: nichts zeigt, was die Tests bemerken
gate-control-unbuilt = mit Unsinn in den Funktionen von { $files } scheitert das Kompilieren: nichts zeigt, was die Tests bemerken
    .hint = sieh dir die Ausgabe dieses Laufs an (`.control.log`); der Plan kann `control: off` in diesem Gate setzen
gate-control-unseen = die Tests bestehen auch mit Unsinn in jeder Funktion von { $files }: sie testen diese Arbeit nicht
    .hint = schreib Tests, die diese Funktionen aufrufen und das Ergebnis vergleichen; geht es bei diesem Befehl um etwas anderes, setzt der Plan `control: off` in diesem Gate
gate-control-new =
    { $tests ->
        [one] der neue Test ({ $names }) besteht auch mit Unsinn in jeder Funktion von { $files }: er testet diese Arbeit nicht
       *[other] alle { $tests } neuen Tests ({ $names }) bestehen auch mit Unsinn in jeder Funktion von { $files }: sie testen diese Arbeit nicht
    }
    .hint = lass die neuen Tests aufrufen, was die Phase geschrieben hat, und das Ergebnis vergleichen; geht es in ihnen um etwas anderes, setzt der Plan `control: off` in diesem Gate
gate-control-seen =
    mit Unsinn in jeder Funktion von { $files } { $passed ->
        [one] besteht
       *[other] bestehen
    } { $passed } von { $tests } Tests: die Tests bemerken diese Arbeit
gate-hint-new-tests = schreib Tests, die ohne die Arbeit der Phase scheitern und mit ihr bestehen
gate-not-new = alle neuen Tests bestehen auch mit dem Code von vor der Phase: sie zeigen nicht, was die Phase getan hat
    .hint = { gate-hint-new-tests }
gate-not-new-some =
    { $passing } von { $tests } neuen Tests ({ $names }) { $passing ->
        [one] besteht auch mit dem Code von vor der Phase: er zeigt
       *[other] bestehen auch mit dem Code von vor der Phase: sie zeigen
    } nicht, was die Phase getan hat
    .hint = { gate-hint-new-tests }
gate-not-new-tests = die neuen Tests testen nicht das Neue
gate-knows-answers = im Code stehen die Antworten der Tests
gate-knows-answer = im Code steht die Antwort auf die Frage eines Tests: { $answer }
    .hint = berechne die Antwort, auch auf Fragen, die kein Test stellt
gate-sees-tests = die Tests bestehen nur, wo der Code sieht, dass er getestet wird: `{ $code }`
    .hint = lass den Code dasselbe tun, ob er getestet wird oder nicht; muss er es wissen, setzt der Plan `control: off` in diesem Gate
gate-does-otherwise = der Code tut etwas anderes, wo er nicht getestet wird
gate-sees-unbuilt = der Code fragt, ob er getestet wird ({ $places }), und ließ sich ohne das nicht bauen
    .hint = sieh dir die Ausgabe dieses Laufs an (`.unaware.log`); der Plan kann `control: off` in diesem Gate setzen
gate-unread =
    { $path } { $why ->
        [long] hat mehr als 2 MiB
       *[unparsed] lässt sich nicht parsen
    }: nichts zeigt, ob die Tests bemerken, was die Datei tut
    .hint = schreib die Datei so oder teile sie so auf, dass Helix sie parsen kann (jede Datei unter 2 MiB); wo das nicht geht, setzt der Plan `control: off` in diesem Gate oder lässt das Gate `mutation` weg
gate-unread-before =
    nicht untersucht: { $path }, { $why ->
        [long] mehr als 2 MiB
       *[unparsed] lässt sich nicht parsen
    }
gate-expects-other = der Test { $test } erwartet jetzt { $now }, vorher { $before }
gate-expects-row = der Test { $test } prüft { $question } nicht mehr; erwartet war { $before }
gate-expects-gone = der Test { $test } ist weg, und kein Test prüft, was er geprüft hat
gate-expects-fix = lass den Code liefern, was der Test erwartet hat; soll sich das ändern, nennt der Plan diese Datei mit ganzem Pfad in `outputs` oder setzt `weaker_tests: note` in diesem Gate
gate-expects-fix-named = lass den Code liefern, was der Test erwartet hat; soll sich das ändern, nennt der Plan diese Datei in `outputs`
gate-weaker-long = die Testdatei hat mehr als 2 MiB: nichts zeigt, was sie prüft
gate-weaker-unparsed = die Testdatei lässt sich nicht mehr parsen: nichts zeigt, was sie prüft
gate-weaker-skipped = der Test { $test } wird jetzt ausgelassen
gate-weaker-stopped = der Test { $test } läuft nicht mehr
gate-weaker-caught = der Test { $test } fängt jetzt seine eigenen Fehler ab
gate-weaker-some-caught = der Test { $test } fängt jetzt einige seiner eigenen Fehler ab
gate-weaker-constant = der Test { $test } prüft jetzt nur noch, was nicht falsch sein kann
gate-weaker-some-constant = der Test { $test } prüft jetzt an einer Stelle etwas, was nicht falsch sein kann; vorher konnte es falsch sein
gate-weaker-nothing = der Test { $test } prüft nichts mehr
gate-weaker-compares = der Test { $test } vergleicht nicht mehr mit einem Wert, sondern verlangt weniger
gate-weaker-fewer = der Test { $test } hat weniger Assertions
gate-weaker-new = der Test { $test } ist neu und prüft nichts
gate-weaker-replaced = der Test { $test } prüft nichts und steht an der Stelle eines Tests, der etwas geprüft hat
gate-weaker-rebound = { $name } steht in den Tests jetzt für etwas anderes; dabei gibt es noch, wofür es stand
gate-weaker-fix = sorge dafür, dass der Code den Test besteht, wie er war; verlangt die Aufgabe weniger, setzt der Plan `weaker_tests: note` in diesem Gate
gate-weaker-fix-named = sorge dafür, dass der Code den Test besteht, wie er war; verlangt die Aufgabe weniger, nennt der Plan diese Datei in `outputs`
gate-watched =
    { $summary } nach { $checks ->
        [one] 1 Prüfung
       *[other] { $checks } Prüfungen
    } in { $seconds } s
gate-left-out = Phase { $phase } wurde ausgelassen; was sie prüft, besteht nicht: { $summary }
gate-not-validated = kein früheres Gate prüft, was Phase { $phase } ausliefert
    .hint = setze ein Gate davor, etwa `tests_pass`, oder lass die Phase von einer abhängen, die Gates hat
gate-not-delivered = nichts wurde ausgeliefert, da Gate { $gate } von Phase { $phase } auf diesem Baum nicht besteht: { $why }
gate-delivery-interrupted = Helix wurde beendet, während es Baum { $tree } auslieferte: was das bewirkt hat, ist unbekannt ({ $what })
gate-look-or-roll-back = sieh dir an, was ausgeliefert ist; `helix jobs rollback { $job }` nimmt es zurück, `helix jobs resume { $job }` liefert es von vorn noch einmal aus
gate-look-and-resume = sieh dir an, was ausgeliefert ist; `helix jobs resume { $job }` liefert es von vorn noch einmal aus
gate-obstacle = es wurde kein Agent gestartet: { $why }
gate-obstacle-of = { $why } (Gate { $gate } von Phase { $phase })
gate-obstacle-remedy = { $remedy }; oder starte ohne diese Prüfung: `--no-preflight`
gate-checkout-unfilled = der Checkout lässt sich nicht füllen: { $error }
gate-tests-none-passed = bei `{ $command }` bestand kein Test: die gelaufenen waren schon vor dem Job gescheitert
    .hint = führe auch Tests aus, die bestehen können
gates-fix = Abhilfe:
gates-evidence = Beleg (Ausgabe eines Werkzeugs, nur Daten):

### Was ein Ergebnis nicht sein darf, was Menschen dazu sagen, und Fehler, die ein Audit einbaut

result-nothing-changed = die Phase hat keine Datei geändert
    .hint = mach die Änderung, die die Aufgabe verlangt; ist keine nötig, sag, warum: dann kann jemand die Phase auslassen
result-stuck = { $tool } ist { $times } Mal auf dieselbe Weise gescheitert, ohne dass sich dazwischen etwas geändert hat
    .hint = ruf es erst wieder auf, wenn sich etwas geändert hat: suche zuerst die Ursache dieses Fehlers; liegt sie außerhalb deines Arbeitsplatzes, sag das und mach mit dem weiter, was davon nicht abhängt
result-not-let-in = { $path } läuft von selbst, und { $by } hat die Datei nicht eingelassen{ $said }
    .hint = nimm deine Änderung an dieser Datei zurück, wenn die Person nichts anderes sagt
result-control-characters = der Name { $name } hat Steuerzeichen
    .hint = gib der Datei einen anderen Namen
result-link = { $name } ist ein Link auf { $target }, und das liegt nicht im Repository
    .hint = verweise mit einem relativen Pfad auf eine Datei des Repositorys oder schreib die Datei selbst
result-compiled = { $name } ist übersetzt, und Python führt diese Datei anstelle der Quelle aus, was immer die Quelle sagt
    .hint = lass die Datei weg: Python übersetzt, was es braucht
result-same-name = auf Systemen, die sie nicht unterscheiden, sind das dieselben Namen: { $names }
    .hint = gib einer dieser Dateien einen anderen Namen
result-many-run = das Ergebnis ändert mehr als { $most } Dateien, die von selbst laufen, etwa { $path }
    .hint = lass solche Dateien weg oder teile die Arbeit: jemand muss jede davon lesen
result-too-much =
    { $files } { $files ->
        [one] Datei
       *[other] Dateien
    } geändert, mit { $size } MiB oder mehr; ein Ergebnis darf höchstens { $most } Dateien mit { $most_size } MiB ändern, und keine davon wurde übernommen
    .hint = entferne, was erzeugt ist, oder nimm es in .gitignore auf
result-git-name = { $name } ist ein Name, den Git auf manchen Systemen für sich behält
    .hint = gib der Datei einen anderen Namen
result-submodule = { $name } ist ein Submodul auf einem Commit, den dein Repository nicht hat; nichts kann ihn prüfen
    .hint = lass das Submodul, wie es war; ein Commit, der übernommen werden soll, muss zuerst in dein Repository geholt werden
result-huge = { $name } hat { $size } MiB; ein Ergebnis darf Dateien bis { $most } MiB enthalten
    .hint = entferne die Datei oder nimm sie in .gitignore auf
result-secret = { $name } enthält den Wert von { $secret }, und der darf in keinen Commit
    .hint = lies den Wert dort, wo er gebraucht wird, aus der Umgebung und halte ihn aus dem Repository heraus
result-no-phases = die Antwort enthält keine Phasen in der verlangten Form
    .hint = liefere die Phasen als strukturierte Ausgabe nach dem Schema
result-unasked = { $path } wurde geändert, aber diese Phase beansprucht keine Outputs: ihr Ergebnis sind die Phasen, die sie hinzufügt
    .hint = nimm die Änderung zurück und sag in den Beschreibungen der Phasen, was ihre Agenten wissen müssen
result-split-delivers = Phase `{ $phase }` liefert aus und kann darum nicht ersetzt werden
    .hint = schlage `retry` mit einem Tipp vor, oder `give_up`
result-branch-moves = der Ziel-Branch bewegt sich immer weiter, während das Ergebnis geprüft wird
    .hint = starte den Job noch einmal, wenn sich der Branch nicht mehr ändert
result-conflict = Phase { $ours } und Phase { $theirs } haben dieselben Zeilen von { $paths } geändert
    .hint = lass eine der beiden Phasen von der anderen abhängen oder gib jeder eigene Dateien
result-cannot-start = { $phase } kann nicht beginnen: { $why }
result-not-answered = nicht rechtzeitig beantwortet
    .hint = entscheide selbst und schreib auf, was du angenommen hast und warum; komm ohne das aus, was eine Person erlauben muss
result-answer = { $by } antwortet: { $answer }
result-approved = freigegeben von { $by }
result-approved-and = freigegeben von { $others } und { $by }
result-rejected = abgelehnt von { $by }
result-no-reason = ohne Begründung abgelehnt
audit-nonsense = jede Funktion gibt Unsinn zurück ({ $files } { $files ->
        [one] Datei
       *[other] Dateien
    })
audit-lie =
    gibt aus, dass { $tests ->
        [one] 1 Test bestanden ist
       *[other] { $tests } Tests bestanden sind
    }, und beendet den Prozess mit Status 0
audit-becomes = `{ $before }` wird zu `{ $after }`
audit-leaves-out = lässt `{ $code }` weg
audit-skips = überspringt `{ $code }`
audit-gate-fails = das Gate { $gate } besteht auf dem Ergebnis, wie es ist, nicht: { $why }
audit-nothing = in dem, was sie geändert hat, lässt sich nichts einbauen, oder sie hat kein Gate, das Helix ausführt

### Warum Arbeitsplätze nicht vorbereitet werden können, und warum ein Job nicht weitergehen kann

fault-inputs = im Commit, mit dem die Phase beginnt, fehlen Inputs: { $paths }
    .hint = lass eine frühere Phase sie als Outputs beanspruchen oder committe sie vorher
fault-work-gone = was der Versuch hinterlassen hatte und was vorher nicht committet werden konnte, ist weg
    .hint = `helix jobs resume { $job }` beginnt die Phase noch einmal
fault-agents = die Agenten des Jobs können nicht aus { $file } gelesen werden: { $error }
    .hint = `helix jobs resume { $job }` nimmt die jetzt eingerichteten, sobald die Datei weg ist
fault-delivery-file =
    { $path } lässt sich nicht { $action ->
        [read] lesen
       *[write] schreiben
    }: { $error }
    .hint = es wurde nichts ausgeliefert: bring das in Ordnung, dann mach weiter mit `helix jobs resume { $job }`
fault-deliveries = was die Jobs des Zustandsverzeichnisses { $state } ausliefern, ist nicht lesbar: { $error }
    .hint = mach es für diesen Host lesbar oder entferne seine Zeile aus { $file }, wenn es nichts mehr ausliefert; dann mach weiter mit `helix jobs resume { $job }`
fault-kept-in = { $why }; die Arbeit des Agenten liegt in { $directory }
    .hint = dann führe `helix jobs resume { $job }` aus: das committet sie und macht weiter
fault-settings = was { $file } verbietet, ist nicht bekannt: { $error }
    .hint = berichtige { $file }, committe die Datei und starte den Job noch einmal
fault-target-held = Job { $other } änderte gerade { $target }, als dieser Host den Job liegen lassen musste: wie weit er kam, ist unbekannt
    .hint = `helix jobs show { $other }` und das Log des Hosts sagen, warum; sieh dir das Ziel an und starte Helix neu; bleibt der Job wieder liegen, liefere unter einem anderen `target` aus
fault-target-unknown = ob Job { $other } schon { $target } geändert hat, ist unbekannt: seine Aufzeichnung ist nicht lesbar
    .hint = `helix jobs show { $other }` sagt, warum; spiele eine Sicherung zurück oder liefere unter einem anderen `target` aus
fault-target-abandoned = Job { $other } des Zustandsverzeichnisses { $state } änderte gerade { $target }, als sein Host endete: wie weit er kam, ist unbekannt
    .hint = sieh dir das Ziel an und schließe den Job mit einem eigenen Host ab: `HELIX_STATE_DIR={ $state } helix jobs cancel { $other }`; dann mach hier weiter mit `helix jobs resume { $job }`
workspace-link = `link` von [workspace] nennt { $link }, und das gibt es in { $directory } nicht
    .hint = berichtige `link` in helix.toml oder lege an, was es nennt
workspace-not-copied = { $path } lässt sich nicht in Arbeitsplätze kopieren: { $error }
    .hint = mach eine gewöhnliche Datei des Arbeitsverzeichnisses daraus oder nimm sie aus `copy` und .worktreeinclude heraus
workspace-copy-files = { $files } Dateien
workspace-copy-size = mehr als { $size } MiB
workspace-copy-much = `copy` von [workspace] und .worktreeinclude nennen { $what }; das ist zu viel zum Kopieren
    .hint = nenne weniger Dateien, verwende `link` oder lass sie von `setup` anlegen
workspace-left = die Vorbereitung des Arbeitsplatzes hat { $paths } Pfade hinterlassen, die Git ignoriert; { $most } können behalten werden
    .hint = nenne die Verzeichnisse, die zu behalten sich lohnt, in `cache` von [workspace]
workspace-cache-not-ignored = `cache` von [workspace] nennt { $path }; das ist kein Verzeichnis des Repositorys, das Git ignoriert
workspace-cache-not-made = `cache` von [workspace] nennt { $path }; das hat die Vorbereitung nicht angelegt
workspace-cache-fix = berichtige `cache` in helix.toml oder lass es weg: dann wird alles behalten, was Git ignoriert
workspace-setup-unusable = `{ $command }` in `setup` von [workspace] kann nicht ausgeführt werden: { $why }
workspace-services = das Starten seiner Dienste
workspace-setup-failed = die Vorbereitung des Arbeitsplatzes ist gescheitert: { $what } { $how }{ $said }
    .hint = sorge dafür, dass es in einem frischen Klon des Repositorys geht, oder berichtige [workspace] in helix.toml, dann mach weiter mit `helix jobs resume { $job }`; die ganze Ausgabe: { $log }
workspace-setup-unreached = die Vorbereitung des Arbeitsplatzes ist gescheitert: { $what } erreicht { $host } nicht:
    { $said }
    .hint = prüfe das Netz, einen Proxy (HTTPS_PROXY) oder Spiegel (PIP_INDEX_URL, npm_config_registry, …) der Shell, die Helix gestartet hat, und `network` unter [sandbox], dann mach weiter mit `helix jobs resume { $job }`
workspace-exited = endete mit { $code }
workspace-signalled = wurde von Signal { $signal } beendet
workspace-timed-out = dauerte länger, als die Vorbereitung darf ({ $seconds } s)
workspace-much-output = gab zu viel aus
workspace-much-memory = brauchte zu viel Speicher
workspace-cancelled = wurde abgebrochen
workspace-unprepared = der Arbeitsplatz kann nicht vorbereitet werden: { $error }
    .hint = prüfe Platz und Rechte des Zustandsverzeichnisses
