const _: () = assert!(size_of::<C>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<R>() <= 168 && 168 <= 1024);
