use super::*;

/// A budget that is never exceeded.
macro_rules! memory {
    () => {
        &mut IndexMemory::new(&mut Allowance::unlimited(), &mut Charges::default())
    };
}

macro_rules! allowance {
    () => {
        &mut Allowance::unlimited()
    };
}

fn whole(text: &str) -> Result<ElementIds<'_>, Stop> {
    ElementIds::whole(text, Limits::default(), Shapes::default(), Charges::default(), allowance!())
}

/// Returns what was found in a document, in a form to compare.
fn shown(found: &Elements<'_>) -> Vec<String> {
    let mut ids: Vec<_> =
        found.ids.iter().map(|(id, found)| format!("{id} {} {:?}", found.element, found.to)).collect();
    ids.sort();
    let extent = |extent: &Extent<'_>| {
        let Extent { start, tag, end, parent, .. } = *extent;
        format!("{start}+{tag}..{end} in {parent}")
    };
    found.elements.iter().map(extent).chain(ids).collect()
}

fn scanned(text: &str) -> Option<Elements<'_>> {
    Elements::scan(text, Limits::default().depth, &mut Shapes::default(), memory!())
}

#[test]
fn the_quick_search_finds_what_a_reader_finds() {
    for (text, is_enough) in [
        ("<?xml version='1.0'?>\n<a><b id='1'/><c id = \"2\" x='>' ><d href='#1'/>></c ></a>\n", true),
        ("<a id='1'><a id=' 2 ' href=\"#1\"><b><c id='1'/></b></a><b/><b id='3'></b></a>", true),
        ("<a>\n<a\n\tid\n=\n'x>\"/a>'>/></a></a>", true),
        ("<a ident='1' xid='2' id='3'/>", true),
        // Tags of one shape.
        ("<a><b id='1' x='y'>1</b><b id='2' x='y'>2</b><b id='3' x='z'>3</b></a>", true),
        // Only a reader understands these.
        ("<a><!--<b id='1'/>--><b id='2'/></a>", false),
        ("<a><![CDATA[<b id='1'>]]><b id='2'/></a>", false),
        ("<a><?b <c id='1'>?><b id='2'/></a>", false),
        ("<a id='&#49;'/>", false),
        ("<a id='1\n2'/>", false),
        ("<a id='1\t2'/>", false),
        ("<a xmlns:e='http://www.w3.org/2003/05/soap-encoding'><b e:id='1'/><c e:id='2' e:ref='1'/></a>", false),
    ] {
        let read = Elements::read(text, Limits::default(), memory!()).map(|found| shown(&found));
        let read = read.unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let scan = scanned(text).map(|found| shown(&found));
        assert_eq!(scan, is_enough.then_some(read), "{text}");
    }
    for broken in ["<a>", "</a>", "<a", "<a x", "<a x=", "<a x='", "<a x=1>", "<a/", "<a/x>", "<", "<a></a", "<a><"] {
        assert!(scanned(broken).is_none(), "{broken}");
        assert!(whole(broken).is_err(), "{broken}");
    }
}

/// Creates an index as it is when the first reference is found in the third element of the document.
fn behind(text: &str) -> ElementIds<'_> {
    let tags = text.match_indices('<').filter(|(at, _)| !text[at + 1..].starts_with(['?', '!', '/']));
    let open: Vec<usize> = tags.map(|(at, _)| at).take(3).collect();
    ElementIds::of(text, Limits::default(), open.into_iter(), allowance!()).unwrap()
}

/// Looks up all ids, each twice, and compares what is found after the call with what is found in the whole document.
/// Returns how many were found after the call.
fn compare(text: &str, order: impl Fn(&mut Vec<String>)) -> usize {
    let Ok(mut whole) = whole(text) else { return 0 };
    let IdIndex::All(all) = &whole.ids else { panic!("all are known") };
    let mut ids: Vec<String> = all.iter().map(|(id, _)| id.clone().into_owned()).collect();
    order(&mut ids);
    let mut index = behind(text);
    let mut count = 0;
    for id in ids.iter().chain(&ids) {
        let Some(expected) = whole.find(id, allowance!()) else { panic!("all are known") };
        let is_behind = matches!(index.ids, IdIndex::Trailing(_));
        let Some(found) = index.find(id, allowance!()) else {
            let numbers = index.complete(allowance!()).unwrap();
            assert!(numbers.0.iter().all(|&number| number == u32::MAX || index.elements.len() > number as usize));
            continue;
        };
        match (expected, found) {
            (Target::Element(expected), Target::Element(found)) => {
                let [expected, found] = [whole.elements[expected as usize], index.elements[found as usize]];
                assert_eq!((found.start, found.tag), (expected.start, expected.tag), "{id} in {text}");
                assert!(!found.is_ended() || found.end == expected.end, "{id} in {text}");
                assert!(
                    !is_behind
                        || index.elements[found.parent as usize].start
                            == whole.elements[expected.parent as usize].start
                );
                count += usize::from(is_behind);
            }
            (Target::Reference(_, expected), Target::Reference(_, found)) => assert_eq!(expected, found),
            (Target::Several(expected), Target::Several(found)) => assert_eq!(expected, found),
            (Target::None, Target::None) => {}
            _ => panic!("{id} in {text}"),
        }
    }
    count
}

#[test]
fn trailing_elements_are_found_as_they_are() {
    let envelope = |body: &str| format!("<?xml version='1.0'?><e><b><c><r href='#1'/></c>{body}</b></e>");
    for (body, count) in [
        ("<m id='1'>1</m><m id='2'>2</m><m id='3'>3</m>", 6),
        ("\n<m id='1'>1</m>\n<m a='b' id = '2' >2</m>\n<n/><m>0</m><m id='3'>3</m>", 6),
        // Elements of one name in each other, elements whose names begin with it, and texts that look like them.
        ("<m id='1'><m><m/><mm/></m>m&lt;/m></m ><m id='2'>2</m>", 4),
        ("<m id='1'><mm></mm></m><mm id='2'>2</mm><m.x id='3'></m.x>", 6),
        ("<m id='1' x='/>'/><m id='2' x='a id=\"5\"'>2</m><m id='4' x='>'>2</m>", 6),
        // Not after the call.
        ("<m id='1'><n id='2'/></m><m id='3'/>", 1),
        ("<m id='1'/>, <m id='2'/>", 1),
        ("<m id='1'/><!-- <m id='2'/> --><m id='3'/>", 1),
        ("<m id='1'><![CDATA[</m>]]></m><m id='2'/>", 1),
        // These need more than a scan.
        ("<m id='1'/><m id='&#50;'/>", 0),
        ("<m id='1'/><m id='2' href='#1'/>", 1),
        ("<m id='1'/><m id='1'/>", 0),
        ("<m id='1'/><m xml:id='1'/><m id='2'/>", 0),
    ] {
        assert_eq!(compare(&envelope(body), |_| {}), count, "{body}");
        compare(&envelope(body), |ids| ids.reverse());
    }
    assert_eq!(compare("<a><b id='1'/></a>", |_| {}), 0, "there is nothing behind it");
    // The letters `id` that are not an attribute.
    let mut index = behind("<?xml version='1.0' id='2'?><e><b><c> id='3'</c><m id='1'> id='4'</m><m/></b></e>");
    assert!(matches!(index.find("1", allowance!()), Some(Target::Element(_))));
    assert!(["2", "3", "4"].iter().all(|id| index.find(id, allowance!()).is_none()));
    assert!(matches!(index.find("5", allowance!()), Some(Target::None)));
}

/// Runs `search` on a separate thread and panics if it does not end, so that an endless search can't block the tests.
fn ends(text: &'static str, search: fn(&'static str)) {
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        search(text);
        let _ = done.send(());
    });
    let outcome = is_done.recv_timeout(std::time::Duration::from_secs(60));
    outcome.unwrap_or_else(|error| panic!("the search in {text}: {error}"));
}

#[test]
fn a_tag_without_a_name_hangs_the_search_for_its_end() {
    for text in [
        "<e><b><c><r/></c><> id='1'>v</m></b></e>",
        "<e><b><c><r/></c>< id='1'>v</m></b></e>",
        "<e><b><c><r/></c><m id='2'/>< x='y'>v</></b> id='1'</e>",
    ] {
        ends(text, |text| {
            let mut index = behind(text);
            assert!(index.find("1", allowance!()).is_none(), "{text}: a scan of the tags is not enough");
            assert!(index.complete(allowance!()).is_err(), "{text} is not well-formed");
        });
    }
}

#[test]
fn tags_of_one_shape_have_their_own_prefixes() {
    let tag =
        |id: u32, prefix: &str| format!("<m id='{id}' x:type='{prefix}:T' xmlns:y='u' xmlns:{prefix}='u'>{id}</m>");
    let tags = [tag(1, "ns9"), tag(2, "ns10"), tag(3, "a"), tag(4, "ns-1.2"), tag(5, "1"), tag(6, "y"), tag(7, "é")];
    let text = format!("<e xmlns:x='x'><b><c><r/></c>{}</b></e>", tags.concat());
    let mut index = behind(&text);
    let found = [1, 2, 3, 4, 5, 6, 7].map(|id| match index.find(&id.to_string(), allowance!()) {
        Some(Target::Element(number)) => {
            let extent = index.elements[number as usize];
            (extent.shape, extent.prefix)
        }
        _ => panic!("{id}"),
    });
    // A prefix that isn't ASCII is not variable, nor one that is used for anything else.
    let expected = [(1, "ns9"), (1, "ns10"), (1, "a"), (1, "ns-1.2"), (2, ""), (1, "y"), (3, "")];
    assert_eq!(found, expected);
    // A declaration of a prefix with the name `type` does not specify a type.
    let text = "<e><b><c><r/></c><m id='1' xmlns:type='urn:t' xmlns:urn='u'>1</m></b></e>";
    let mut index = behind(text);
    let Some(Target::Element(number)) = index.find("1", allowance!()) else { panic!("it is there") };
    assert_eq!(index.elements[number as usize].prefix, "");
}
