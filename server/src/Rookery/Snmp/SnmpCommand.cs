using System.CommandLine;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Terminal;

namespace Rookery.Snmp;

/// <summary>
/// `rookery snmp`: answers Debian's snmpd, which starts it by a line `pass_persist` of its configuration and speaks
/// with it over stdin and stdout (snmpd.conf(5)). It asks a node for its metrics, changes nothing, and keeps what it
/// heard for some seconds, because a walk asks for one object at a time. docs/how-to/snmp.md.
/// </summary>
internal static class SnmpCommand
{
    public static Command Create()
    {
        var address = new NodeAddress(isRemote: true);
        var command = address.AddTo(
            new Command(
                "snmp",
                "Answer snmpd (a line pass_persist of its configuration) with the health, rates, heat and disk "
                    + "of a node; read-only."
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
