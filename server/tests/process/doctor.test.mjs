// How a node reacts to the state of its board, and what `rookery doctor` reports about the node and the board. A
// directory of files simulates the board.
import assert from "node:assert/strict"
import { once } from "node:events"
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { afterwards, freePort, NodeProcess, run, runWithin, temporaryDirectory, until } from "./node-process.mjs"

const temperature = "sys/class/hwmon/hwmon0/temp1_input"
const throttled = "sys/devices/platform/soc/soc:firmware/get_throttled"

/** Simulates a Raspberry Pi: `write` changes its files; a node or command that is started with `environment` and `within` reads them. */
function simulatedBoard(t) {
  const root = temporaryDirectory(t)
  const write = (path, content) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  write("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0")
  write("proc/device-tree/serial-number", "10000000f00dcafe\0")
  write("sys/class/hwmon/hwmon0/name", "cpu_thermal\n")
  write(temperature, "84200\n")
  write(throttled, "0\n")
  return { write, environment: { ROOKERY_SIMULATED_BOARD: root }, within: ["env", `ROOKERY_SIMULATED_BOARD=${root}`] }
}

test("A hot board pauses background work and is reported as hot until it has cooled down", async t => {
  const board = simulatedBoard(t)
  const data = temporaryDirectory(t)
  const node = await NodeProcess.serveDuring(t, { data, environment: board.environment })
  const hot = (await node.request("GET", "/metrics")).text
  assert.match(hot, /^rookery_board_temperature_celsius 84\.2$/m)
  assert.match(hot, /^rookery_board_info\{model="Raspberry Pi 4 Model B Rev 1\.4",simulated="true"\} 1$/m)
  assert.match(hot, /^rookery_background_share_ratio 0$/m)
  assert.match(node.log, /\(Simulated board\.\) The board is hot \(84 °C now\)/)

  const status = await run("status", "--url", node.url)
  assert.equal(status.code, 0, status.stderr)
  assert.match(status.stdout, /^\(Simulated board\.\) The board is hot \(84 °C now\): background work pauses from 80 °C on\./m)

  const doctor = await runWithin(board.within, "doctor", "--url", node.url, "--json")
  assert.equal(doctor.code, 1, doctor.stderr)
  const findings = JSON.parse(doctor.stdout).Findings
  const temperatureFinding = findings.find(finding => finding.Subject === "temperature")
  assert.equal(temperatureFinding.Severity, "warning")
  assert.match(temperatureFinding.Sentence, /^\(Simulated board\.\) 84 °C/)
  assert.equal(findings.find(finding => finding.Subject === "node").Severity, "ok")

  board.write(temperature, "61000\n")
  await until(async () => (await node.request("GET", "/metrics")).text.includes("\nrookery_background_share_ratio 0.5\n"))
  const everything = [node.log, status.stdout, doctor.stdout, (await node.request("GET", "/metrics")).text, (await node.request("GET", "/readyz?verbose")).text].join("\n")
  assert.doesNotMatch(everything, /f00dcafe/, "a serial number left the node")
})

test("An undervoltage that the running node saw is still reported after it has ended", async t => {
  const board = simulatedBoard(t)
  board.write(temperature, "50000\n")
  board.write(throttled, "1\n")
  const node = await NodeProcess.serveDuring(t, { data: temporaryDirectory(t), environment: board.environment })
  board.write(throttled, "0\n")
  const doctor = await runWithin(board.within, "doctor", "--url", node.url)
  assert.equal(doctor.code, 1, doctor.stderr)
  assert.match(doctor.stdout, /^warning power +\(Simulated board\.\) The supply voltage fell below 4\.63 V since the machine was booted\.\n +→ Use the power supply/m)
})

test("Another program on the port of a stopped node is reported, and a measurement of the disk leaves no file", async t => {
  const data = temporaryDirectory(t)
  const port = await freePort()
  const config = join(temporaryDirectory(t), "config.json")
  writeFileSync(config, JSON.stringify({ data, listen: `http://127.0.0.1:${port}` }))
  await (await NodeProcess.serve({ data })).terminate()
  const before = readdirSync(data)
  const occupied = createServer(socket => socket.destroy()).listen(port, "127.0.0.1")
  await once(occupied, "listening")
  afterwards(t, () => occupied.close())

  const doctor = await run("doctor", "--config", config, "--probe", "--json")
  assert.equal(doctor.code, 1, doctor.stderr)
  const { Severity, Findings } = JSON.parse(doctor.stdout)
  assert.equal(Severity, "error")
  assert.match(Findings.find(finding => finding.Subject === "ports").Sentence, new RegExp(`another program listens on its port ${port}, for clients`))
  assert.match(Findings.find(finding => finding.Subject === "disk").Sentence, /took [\d.]+ ms in the median/)
  assert.ok(Findings.some(finding => finding.Subject === "space"))
  assert.deepEqual(readdirSync(data), before)
})

test("With only --data, doctor finds the address of the node", async t => {
  const data = temporaryDirectory(t)
  const node = await NodeProcess.serveDuring(t, { data })
  await until(() => readdirSync(data).includes("local-access"))
  const { Findings } = JSON.parse((await run("doctor", "--data", data, "--json")).stdout)
  assert.equal(Findings.find(finding => finding.Subject === "node").Severity, "ok")
  assert.match((await run("status", "--data", data)).stdout, /^Ready/)
  await node.terminate()
  const stopped = JSON.parse((await run("doctor", "--data", data, "--json")).stdout).Findings.find(finding => finding.Subject === "node")
  assert.match(stopped.Sentence, new RegExp(`127\\.0\\.0\\.1:${new URL(node.url).port}`))
})

test("Doctor asks the nodes that mDNS lists, and reports a daemon that does not answer", async t => {
  const tools = temporaryDirectory(t)
  // Runs doctor with a fake avahi-browse. Returns a function that returns the finding about a subject.
  const browsed = async script => {
    writeFileSync(join(tools, "avahi-browse"), `#!/bin/sh\n${script}\n`)
    chmodSync(join(tools, "avahi-browse"), 0o755)
    const { stdout } = await runWithin(["env", `PATH=${tools}:${process.env.PATH}`], "doctor", "--url", "http://127.0.0.1:1", "--json")
    return subject => JSON.parse(stdout).Findings.find(finding => finding.Subject === subject)
  }
  const withOther = await browsed(`echo '=;lo;IPv4;pi-2;_rookery._tcp;local;pi-2.local;127.0.0.2;${await freePort()};"node=two" "state=member"'`)
  assert.match(withOther("mdns").Sentence, /nodes announced: 1\./)
  assert.deepEqual([withOther("network").Severity, withOther("network").Sentence], ["ok", "Other nodes that answer: 1 of 1."])

  const silent = await browsed("echo 'Failed to create client object: Daemon not running' >&2; exit 1")
  assert.equal(silent("mdns").Severity, "warning")
  assert.match(silent("mdns").Sentence, /avahi-daemon does not answer: .*Daemon not running/)
})

test("The report on a board has its values and no serial number, name or address", async t => {
  const board = simulatedBoard(t)
  board.write("proc/device-tree/chosen/bootloader/version", "fc1b0c1d\0")
  board.write("etc/os-release", 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 13 (trixie)"\n')
  board.write("proc/meminfo", "MemTotal:        1000 kB\nMemFree: 10 kB\n")
  const data = temporaryDirectory(t)
  const report = await runWithin(board.within, "doctor", "--data", data, "--probe", "--report")
  assert.equal(report.code, 0, report.stderr)
  const { Board, Firmware, OperatingSystem, MemoryBytes, TemperatureCelsius, IsSimulated, Probe } = JSON.parse(report.stdout)
  assert.deepEqual({ Board, Firmware, OperatingSystem, MemoryBytes, TemperatureCelsius, IsSimulated }, {
    Board: "Raspberry Pi 4 Model B Rev 1.4", Firmware: "fc1b0c1d", OperatingSystem: "Debian GNU/Linux 13 (trixie)", MemoryBytes: 1024000, TemperatureCelsius: 84.2, IsSimulated: true,
  })
  assert.ok(Probe.MedianSyncMilliseconds > 0)
  for (const secret of ["f00dcafe", data, "127.0.0.1"]) {
    assert.ok(!report.stdout.includes(secret), secret)
  }
})

test("Wrong options of doctor are refused", async t => {
  const data = temporaryDirectory(t)
  for (const [options, sentence] of [
    [["--data", join(data, "none")], /There is no directory/],
    [["--data", data, "--config", "x.json"], /--config names the node, and --data another one/],
    [["--config", "x.json", "--token-file", "x"], /--config names the node, and --token-file another one/],
    [["--data", data, "--url", "http://127.0.0.1:1"], /--data finds the node by its directory, and --url is for one/],
    [["--config", join(data, "none.json")], /there is no such file/],
    [["--url", "http://127.0.0.1:1", "--probe"], /--probe writes to the data directory/],
  ]) {
    const { code, stderr, stdout } = await run("doctor", ...options)
    assert.equal(code, 78, stdout)
    assert.match(stderr, sentence)
  }
})
