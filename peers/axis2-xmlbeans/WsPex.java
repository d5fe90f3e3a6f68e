package peer;

import peer.wspex.*;

/** The operations of WSpex: what they get goes back through the types of the contract. */
public final class WsPex extends WSpexSkeleton {
    @Override public EchoVoidResponseDocument echoVoid(EchoVoidDocument request) {
        EchoVoidResponseDocument response = EchoVoidResponseDocument.Factory.newInstance();
        response.addNewEchoVoidResponse();
        return response;
    }

    @Override public EchoIntegerResponseDocument echoInteger(EchoIntegerDocument request) {
        EchoIntegerResponseDocument response = EchoIntegerResponseDocument.Factory.newInstance();
        response.addNewEchoIntegerResponse().setReturn(request.getEchoInteger().getParams());
        return response;
    }

    @Override public EchoFloatResponseDocument echoFloat(EchoFloatDocument request) {
        EchoFloatResponseDocument response = EchoFloatResponseDocument.Factory.newInstance();
        response.addNewEchoFloatResponse().setReturn(request.getEchoFloat().getParameters());
        return response;
    }

    @Override public EchoStringResponseDocument echoString(EchoStringDocument request) {
        EchoStringResponseDocument response = EchoStringResponseDocument.Factory.newInstance();
        response.addNewEchoStringResponse().setReturn(request.getEchoString().getValue());
        return response;
    }

    @Override public EchoDateResponseDocument echoDate(EchoDateDocument request) {
        EchoDateResponseDocument response = EchoDateResponseDocument.Factory.newInstance();
        response.addNewEchoDateResponse().setReturn(request.getEchoDate().getParameters());
        return response;
    }

    @Override public EchoStructResponseDocument echoStruct(EchoStructDocument request) {
        EchoStructResponseDocument response = EchoStructResponseDocument.Factory.newInstance();
        response.addNewEchoStructResponse().setReturn(request.getEchoStruct().getParameters());
        return response;
    }

    @Override public EchoSyntheticResponseDocument echoSynthetic(EchoSyntheticDocument request) {
        EchoSyntheticResponseDocument response = EchoSyntheticResponseDocument.Factory.newInstance();
        response.addNewEchoSyntheticResponse().setReturn(request.getEchoSynthetic().getS());
        return response;
    }

    @Override public EchoArrayResponseDocument echoArray(EchoArrayDocument request) {
        EchoArrayResponseDocument response = EchoArrayResponseDocument.Factory.newInstance();
        response.addNewEchoArrayResponse().setReturn(request.getEchoArray1().getItems());
        return response;
    }

    @Override public EchoOrderResponseDocument echoOrder(EchoOrderRequestDocument request) {
        EchoOrderResponseDocument response = EchoOrderResponseDocument.Factory.newInstance();
        response.addNewEchoOrderResponse().setEchoOrderResponse(request.getEchoOrderRequest().getEchoOrderRequest());
        return response;
    }
}
