fn main() {
    let onvif = std::env::var("CORPUS").expect("tests/trials/run says where the corpus is") + "/wsdl/onvif";
    let mut options = castile_codegen::Options::default();
    options.catalogs = vec![format!("{onvif}/catalog.tsv").into()];
    options.operations = vec!["GetDeviceInformation".into(), "GetSystemDateAndTime".into()];
    castile_codegen::compile_with(format!("{onvif}/ver10/device/wsdl/devicemgmt.wsdl"), &options);
}
