// Runs once, when the component is on the page.

const view = () => (props.value ? JSON.parse(JSON.stringify(props.value)) : null);
const stage = new Stage(element.querySelector(".stage"), props.colours, props.limits, trigger, server);
element.unheardStage = stage;
watch("value", () => stage.update(view()));
stage.update(view());
