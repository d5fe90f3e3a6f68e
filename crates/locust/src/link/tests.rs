use super::*;

/// What a master sends after its greeting.
const READY: &[u8] = b"\x04\x1c\x05READY\x0bSocket-Type\0\0\0\x06ROUTER";
const ACK: &[u8] = b"\x93\xa3ack\x81\xa5index\x02\xa1w";
const HEARTBEAT: &[u8] = b"\x93\xa9heartbeat\xc0\xa1w";

/// A link and its clock.
struct Test {
    link: Link,
    start: Instant,
    now: Instant,
}

impl Test {
    fn new() -> Self {
        let now = Instant::now();
        Test { link: Link::new("w".to_owned(), now), start: now, now }
    }

    fn connect(&mut self) {
        self.link.connected(self.now);
        self.link.push(&frames::greeting());
        self.link.push(READY);
        assert_eq!(self.events(), []);
        let sent = [&frames::greeting()[..], &frames::ready("w")].concat();
        assert_eq!(std::mem::take(self.link.output()), sent);
    }

    /// Lets the master send a message.
    fn receive(&mut self, message: &[u8]) -> Vec<Event> {
        let mut frame = Vec::new();
        frames::message(message, &mut frame);
        self.link.push(&frame);
        self.events()
    }

    fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.link.event(self.now).unwrap()).collect()
    }

    /// Lets seconds pass. Returns whether the master was lost meanwhile.
    fn wait(&mut self, seconds: u64) -> bool {
        let end = self.now + Duration::from_secs(seconds);
        let mut is_lost = false;
        loop {
            is_lost |= self.link.tick(self.now);
            if self.now == end {
                return is_lost;
            }
            self.now = self.link.next_tick().max(self.now).min(end);
        }
    }

    /// Returns the kinds of the messages that were sent since the last call.
    fn sent(&mut self) -> String {
        let mut reader = Reader::default();
        reader.push(&frames::greeting());
        reader.push(READY);
        reader.push(&std::mem::take(self.link.output()));
        let mut kinds = Vec::new();
        while let Some(received) = reader.next().unwrap() {
            let Received::Message(message) = received else { continue };
            let length = usize::from(message[1] & 0x1f);
            kinds.push(String::from_utf8(message[2..2 + length].to_vec()).unwrap());
        }
        kinds.join(" ")
    }

    fn running() -> Self {
        let mut test = Test::new();
        test.connect();
        test.wait(0);
        assert_eq!(test.receive(ACK), [Event::Known { index: Some(2) }]);
        let Some(Event::Users(users)) = test.receive(&spawn(1.0, 3)).pop() else { panic!() };
        test.link.running(users);
        test.wait(0);
        assert_eq!(test.sent(), "client_ready spawning spawning_complete heartbeat");
        test
    }
}

fn spawn(timestamp: f64, users: u8) -> Vec<u8> {
    let time = timestamp.to_be_bytes();
    let users = [b"\xb2user_classes_count\x81\xa1C", &[users][..]].concat();
    [b"\x93\xa5spawn\x83\xa9timestamp\xcb", &time[..], &users, b"\xacstop_timeout\x02\xa1w"].concat()
}

fn users(number: u64) -> Event {
    Event::Users(Users { classes: BTreeMap::from([("C".to_owned(), number)]) })
}

#[test]
fn a_worker_offers_itself_until_it_is_known_and_then_beats() {
    let mut test = Test::new();
    assert!(!test.wait(3));
    test.connect();
    test.wait(11);
    assert_eq!(test.sent(), "client_ready client_ready client_ready");
    assert_eq!(test.receive(ACK), [Event::Known { index: Some(2) }]);
    assert_eq!(test.receive(ACK), []);
    test.wait(3);
    assert_eq!(test.sent(), "heartbeat heartbeat heartbeat heartbeat");
}

/// Each once was a line on standard error, and a new offer.
#[test]
fn a_stop_for_a_worker_that_is_not_known_is_not_followed() {
    let mut test = Test::new();
    test.connect();
    assert_eq!(test.receive(b"\x93\xa4stop\xc0\xa1w"), []);
    assert_eq!(test.receive(ACK), [Event::Known { index: Some(2) }]);
    assert_eq!(test.receive(b"\x93\xa4stop\xc0\xa1w"), [Event::Stop { grace: Duration::ZERO }]);
}

/// A master doesn't hear the second of two workers with one name, which once waited silently.
#[test]
fn a_master_that_does_not_answer_is_told_once() {
    let mut test = Test::new();
    test.wait(60);
    assert!(!test.link.is_unanswered(test.now), "there was no connection");
    test.connect();
    test.wait(9);
    assert!(!test.link.is_unanswered(test.now));
    test.wait(1);
    assert!(test.link.is_unanswered(test.now));
    test.connect();
    test.wait(20);
    assert!(!test.link.is_unanswered(test.now));
    test.receive(ACK);
    assert!(!test.link.is_unanswered(test.now));
    test.link.stopped(test.now);
    test.wait(10);
    assert!(test.link.is_unanswered(test.now));
}

#[test]
fn a_test_runs_from_the_first_spawn_to_the_stop_and_another_may_follow() {
    let mut test = Test::running();
    // The ramp goes on. Spawn messages that were overtaken don't count.
    assert_eq!(test.receive(&spawn(3.0, 5)), [users(5)]);
    assert_eq!(test.receive(&spawn(2.0, 4)), []);
    assert_eq!(test.receive(&spawn(3.0, 4)), []);
    assert_eq!(test.sent(), "spawning");
    assert_eq!(test.receive(b"\x93\xa4stop\xc0\xa1w"), [Event::Stop { grace: Duration::from_secs(2) }]);
    test.link.report(&Report::default());
    test.link.stopped(test.now);
    test.wait(0);
    assert_eq!(test.sent(), "stats client_stopped client_ready");
    assert_eq!(test.receive(&spawn(4.0, 4)), [], "the master doesn't know the worker yet");
    assert_eq!(test.receive(ACK), [Event::Known { index: Some(2) }]);
    assert_eq!(test.receive(&spawn(5.0, 1)), [users(1)]);
    assert_eq!(test.receive(b"\x93\xa4quit\xc0\xa1w"), [Event::Quit]);
}

#[test]
fn a_connection_that_drops_is_no_reason_to_stop() {
    let mut test = Test::running();
    test.link.disconnected();
    assert!(!test.wait(30));
    assert!(!test.link.is_up(test.now));
    test.connect();
    test.wait(0);
    assert_eq!(test.sent(), "heartbeat");
    test.receive(HEARTBEAT);
    assert!(test.link.is_up(test.now));
    assert!(!test.wait(20));
}

/// Reports once went into the buffer of a connection whose packets were lost, for up to a minute.
#[test]
fn a_master_that_answers_no_heartbeat_gets_no_report() {
    let mut test = Test::running();
    test.wait(3);
    assert!(test.link.is_up(test.now));
    test.wait(1);
    assert!(!test.link.is_up(test.now));
    // The heartbeats go on. An answer shows that the link is good again.
    assert_eq!(test.sent(), "heartbeat heartbeat heartbeat heartbeat");
    test.receive(HEARTBEAT);
    assert!(test.link.is_up(test.now));
    // A plugin also sends to workers that its master doesn't know.
    test.wait(4);
    test.receive(b"\x93\xa7castile\x81\xa4time\x07\xa1w");
    assert!(!test.link.is_up(test.now));
    // A message of an earlier connection is no answer on this one.
    test.receive(HEARTBEAT);
    test.wait(1);
    test.connect();
    assert!(!test.link.is_up(test.now));
    test.receive(HEARTBEAT);
    assert!(test.link.is_up(test.now));
}

#[test]
fn a_master_that_was_restarted_gets_a_worker_without_users() {
    let mut test = Test::running();
    test.now += Duration::from_secs(1);
    test.link.disconnected();
    test.wait(2);
    test.connect();
    // It doesn't know who sends these heartbeats. Its plugin answers all the same.
    test.receive(b"\x93\xa7castile\x81\xa4time\x07\xa1w");
    assert!(!test.wait(4));
    test.receive(b"\x93\xa7castile\x81\xa4time\x07\xa1w");
    assert!(test.wait(2));
    assert_eq!(test.sent().replace("heartbeat ", ""), "client_ready");
    test.receive(ACK);
    assert_eq!(test.receive(&spawn(0.5, 1)), [users(1)]);
}

#[test]
fn a_master_that_sends_nothing_for_a_minute_is_lost() {
    let mut test = Test::running();
    assert!(!test.wait(60));
    assert!(test.wait(2));
    assert!(test.link.is_broken());
    // Without a connection, too.
    let mut test = Test::running();
    test.link.disconnected();
    assert!(!test.wait(60));
    assert!(test.wait(2));
    assert!(test.now >= test.start + Duration::from_secs(60));
}

/// A worker once waited for ever on a connection that was half gone, after each test and before the first.
#[test]
fn a_connection_on_which_nobody_answers_is_made_again() {
    let mut test = Test::new();
    test.now += Duration::from_secs(100);
    test.connect();
    // The plugin of a master that doesn't know the worker is no answer.
    test.receive(b"\x93\xa7castile\x81\xa4time\x07\xa1w");
    assert!(!test.wait(30) && !test.link.is_broken());
    assert!(!test.wait(5) && test.link.is_broken());
    test.connect();
    assert!(!test.wait(30) && !test.link.is_broken());
    let mut test = Test::running();
    test.wait(40);
    test.link.stopped(test.now);
    assert!(!test.wait(30) && !test.link.is_broken());
    assert!(!test.wait(5) && test.link.is_broken());
    // Without a handshake, too.
    let mut test = Test::new();
    test.link.connected(test.now);
    assert!(!test.wait(35) && test.link.is_broken());
}

#[test]
fn a_master_can_ask_for_a_new_connection() {
    let mut test = Test::running();
    assert_eq!(test.receive(b"\x93\xa9reconnect\xc0\xa1w"), []);
    assert!(test.link.is_broken());
    test.connect();
    assert!(!test.link.is_broken());
}

#[test]
fn only_a_master_with_the_plugin_gets_more_than_locust_knows() {
    let mut test = Test::running();
    test.link.send_to_plugin("distribution");
    assert_eq!(test.sent(), "");
    assert_eq!(test.link.plugin_time(test.now), None);
    assert_eq!(test.receive(b"\x93\xa7castile\x81\xa4time\x07\xa1w"), []);
    test.now += Duration::from_secs(1);
    assert_eq!(test.link.plugin_time(test.now), Some((7.0, Duration::from_secs(1))));
    test.link.send_to_plugin("distribution");
    test.link.stopped(test.now);
    test.link.send_to_plugin("distribution");
    assert_eq!(test.sent(), "castile client_stopped");
}

#[test]
fn a_master_that_does_not_read_is_given_up() {
    let mut test = Test::running();
    let report = Report { entries: vec![crate::Entry::default(); 1_000], ..Report::default() };
    let mut reports = 0;
    while !test.link.is_broken() {
        test.link.report(&report);
        reports += 1;
        assert!(test.link.output().len() <= MAX_OUTPUT);
    }
    assert!(reports > 10);
}

#[test]
fn a_hostile_master_can_not_ask_for_more_than_a_limit() {
    let users = |classes: &[(&str, u64)]| Users {
        classes: classes.iter().map(|(class, users)| ((*class).to_owned(), *users)).collect(),
    };
    let spawned = users(&[("A", 3), ("B", u64::MAX), ("C", u64::MAX)]);
    assert_eq!(spawned.count(), u64::MAX);
    assert_eq!(spawned.at_most(10), users(&[("A", 3), ("B", 7), ("C", 0)]));
    let mut test = Test::running();
    let mut frame = spawn(9.0, 1);
    let timeout = frame.len() - 3;
    assert_eq!(frame[timeout], 2);
    // A time limit of minus one, and one that is no number.
    frame[timeout] = 0xff;
    test.receive(&frame);
    assert_eq!(test.receive(b"\x93\xa4stop\xc0\xa1w"), [Event::Stop { grace: Duration::ZERO }]);
    frame.splice(timeout..=timeout, *b"\xcb\x7f\xf0\0\0\0\0\0\0");
    test.receive(&frame);
    assert_eq!(test.receive(b"\x93\xa4stop\xc0\xa1w"), [Event::Stop { grace: Duration::ZERO }]);
}

/// Whatever a master sends, in pieces of any length, it is refused or followed: nothing panics, no loop goes on without bytes, and little
/// waits to be sent.
#[test]
fn changed_messages_do_no_harm() {
    let frame = |message: &[u8]| {
        let mut frame = Vec::new();
        frames::message(message, &mut frame);
        frame
    };
    let (stop, quit) = (b"\x93\xa4stop\xc0\xa1w", b"\x93\xa4quit\xc0\xa1w");
    let messages = [&ACK.to_vec()[..], HEARTBEAT, &spawn(1.0, 3), &spawn(2.0, 100), stop, quit].map(frame);
    let whole = [&frames::greeting()[..], READY, &messages.concat()].concat();
    let signs: [&[u8]; 8] = [
        b"\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x02\0\0\0\0\xff\xff\xff\xff",
        b"\xdd\xff\xff\xff\xff",
        b"\x91",
        b"\x81\xa1a",
        b"\xcb\x7f\xf0\0\0\0\0\0\0",
        b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\xc1",
    ];
    let mut followed = 0;
    for seed in 0..3_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = whole.clone();
        for _ in 0..random.usize(0..4) {
            let (from, sign) = (random.usize(..bytes.len()), signs[random.usize(..signs.len())]);
            let to = (from + random.usize(..12)).min(bytes.len());
            match random.u8(..5) {
                0 => bytes[from] ^= 1 << random.u32(..8),
                1 => drop(bytes.drain(from..to)),
                2 => drop(bytes.splice(from..to, sign.iter().copied())),
                3 => drop(bytes.splice(from..from, sign.repeat(random.usize(1..2_000)))),
                _ => drop(bytes.splice(to..to, messages[random.usize(..messages.len())].clone())),
            }
        }
        let mut test = Test::new();
        test.link.connected(test.now);
        let mut events = 0;
        'master: while !bytes.is_empty() {
            let rest = bytes.split_off(random.usize(1..=bytes.len()));
            test.link.push(&bytes);
            bytes = rest;
            test.link.tick(test.now);
            loop {
                match test.link.event(test.now) {
                    Ok(Some(Event::Users(users))) => test.link.running(users.at_most(10)),
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(_) => break 'master,
                }
                events += 1;
                assert!(events < 10_000, "seed {seed}");
            }
            assert!(test.link.output().len() <= 64 << 10, "seed {seed}");
        }
        followed += usize::from(events > 3);
    }
    assert!(followed > 300, "{followed}");
}
