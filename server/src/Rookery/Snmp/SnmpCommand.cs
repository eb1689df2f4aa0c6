using System.CommandLine;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Terminal;

namespace Rookery.Snmp;

/// <summary>
/// `rookery snmp`: serves snmpd, which starts it by a `pass_persist` line in its configuration and talks to it over
/// stdin and stdout (snmpd.conf(5)). Reads the node's metrics, and caches them for some seconds, because a walk
/// requests one object at a time. See docs/how-to/snmp.md.
/// </summary>
internal static class SnmpCommand
{
    public static Command Create()
    {
        var address = new NodeAddress(hasDataAndJson: false);
        var command = address.AddTo(
            new Command(
                "snmp",
                "Serve snmpd (pass_persist in its configuration) the health, rates, temperature and disk of a node; "
                    + "read-only."
            )
        );
        command.SetAction(
            (parsed, cancellation) =>
                address.UseAsync(
                    parsed,
                    async (NodeConnection node) =>
                    {
                        using var source = new SnmpSource(node, TimeProvider.System);
                        using var input = new StreamReader(StandardStream.OpenInput());
                        await using var output = new StreamWriter(Output.Stream) { NewLine = "\n" };
                        await new PassPersist(source.ReadAsync).ServeAsync(input, output, cancellation);
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }
}
