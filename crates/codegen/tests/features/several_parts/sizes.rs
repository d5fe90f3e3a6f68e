const _: () = assert!(size_of::<Second>() <= 48 && 48 <= 1024);
const _: () = assert!(size_of::<EchoRequest>() <= 56 && 56 <= 1024);
const _: () = assert!(size_of::<EchoResponse>() <= 56 && 56 <= 1024);
const _: () = assert!(size_of::<other::Content>() <= 32 && 32 <= 1024);
