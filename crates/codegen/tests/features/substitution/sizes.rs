const _: () = assert!(size_of::<Dog>() <= 48 && 48 <= 1024);
const _: () = assert!(size_of::<AnimalElement2>() <= 56 && 56 <= 1024);
const _: () = assert!(size_of::<Animal>() <= 80 && 80 <= 1024);
const _: () = assert!(size_of::<AnimalOrDerived>() <= 112 && 112 <= 1024);
const _: () = assert!(size_of::<AnimalElement>() <= 120 && 120 <= 1024);
const _: () = assert!(size_of::<NoteElement>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<ValueChoice>() <= 120 && 120 <= 1024);
const _: () = assert!(size_of::<Value>() <= 200 && 200 <= 1024);
