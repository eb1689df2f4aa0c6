import { render } from "preact"
import { App } from "./app"
import "./shell/theme.css"

const place = document.getElementById("app")
if (place) render(<App />, place)
