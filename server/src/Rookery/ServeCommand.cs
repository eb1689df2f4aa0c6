using System.CommandLine;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Server.Configuration;
using Rookery.Support;

namespace Rookery;

/// <summary>`rookery serve`: runs a node until SIGTERM or SIGINT.</summary>
internal static class ServeCommand
{
    public static Command Create()
    {
        var data = new Option<string?>("--data")
        {
            Description = "Data directory; created if it is missing.",
            HelpName = "DIR",
        };
        var listen = new Option<string?>("--listen")
        {
            Description =
                "URL to listen on; with https every client needs a credential [default: http://127.0.0.1:8080].",
            HelpName = "URL",
        };
        var journal = new Option<string?>("--journal")
        {
            Description = "Journal directory; it may be on another device [default: DIR/journal].",
            HelpName = "DIR",
        };
        var peerListen = new Option<string?>("--peer-listen")
        {
            Description =
                "Address on which a member listens for other members [default: the address of --listen, with its "
                + "port + 1000, or - 1000 from port 64536 on].",
            HelpName = "ADDRESS:PORT",
        };
        var tcpListen = new Option<string?>("--tcp-listen")
        {
            Description =
                "Address for the TCP connections of subscriptions, or off [default: that of --listen, with any free "
                + "port].",
            HelpName = "ADDRESS:PORT",
        };
        var redis = new Option<string?>("--redis")
        {
            Description =
                "Port, or address and port, for Redis clients, or off; a port alone means this machine [default: off].",
            HelpName = "[ADDRESS:]PORT",
        };
        var welcome = new Option<string?>("--welcome")
        {
            Description =
                "Address for a plain HTTP page with the authority's certificate and how to trust it [default: none].",
            HelpName = "ADDRESS:PORT",
        };
        var peers = new Option<string?>("--peers")
        {
            Description =
                "Addresses of other members besides their last known ones, for a start after all addresses changed "
                + "at once.",
            HelpName = "HOST:PORT,…",
        };
        var publicUrl = new Option<string?>("--public-url")
        {
            Description = "URL at which clients reach this node, if it differs from --listen.",
            HelpName = "URL",
        };
        var memory = new Option<string?>("--memory")
        {
            Description =
                "Memory limit of the process, such as 128M or 2G [default: a quarter of the machine's, at least 96M].",
            HelpName = "SIZE",
        };
        var machineMetrics = new Option<string?>("--machine-metrics")
        {
            Description =
                $"URL of this machine's node_exporter, whose metrics /metrics/machine passes on [default: "
                + $"{ServeConfiguration.DefaultMachineMetrics}].",
            HelpName = "URL",
        };
        var claimCodeFile = new Option<string?>("--claim-code-file")
        {
            Description =
                "File with the code that claims a node without an owner [default: the node creates one "
                + "at each start].",
            HelpName = "FILE",
        };
        var config = new Option<string?>("--config")
        {
            Description = "JSON file with the same settings; options on the command line take precedence.",
            HelpName = "FILE",
        };
        var insecure = new Option<bool>("--insecure")
        {
            Description = "Allow plain HTTP without credentials beyond this machine.",
        };
        var command = new Command("serve", "Run a node until SIGTERM.")
        {
            data,
            listen,
            peerListen,
            tcpListen,
            redis,
            welcome,
            peers,
            publicUrl,
            journal,
            memory,
            machineMetrics,
            claimCodeFile,
            config,
            insecure,
        };
        command.SetAction(
            (parsed, _) =>
                RunAsync(
                    new ServeSettings
                    {
                        Data = parsed.GetValue(data),
                        Listen = parsed.GetValue(listen),
                        Journal = parsed.GetValue(journal),
                        PeerListen = parsed.GetValue(peerListen),
                        TcpListen = parsed.GetValue(tcpListen),
                        Redis = parsed.GetValue(redis),
                        Welcome = parsed.GetValue(welcome),
                        Peers = parsed.GetValue(peers),
                        PublicUrl = parsed.GetValue(publicUrl),
                        Memory = parsed.GetValue(memory),
                        MachineMetrics = parsed.GetValue(machineMetrics),
                        ClaimCodeFile = parsed.GetValue(claimCodeFile),
                        Insecure = parsed.GetValue(insecure) ? true : null,
                    },
                    parsed.GetValue(config)
                )
        );
        return command;
    }

    private static async Task<int> RunAsync(ServeSettings settings, string? configurationFile)
    {
        try
        {
            var file = configurationFile is null ? null : ConfigurationFiles.Read(Path.GetFullPath(configurationFile));
            var configuration = ServeConfiguration.From(file is null ? settings : settings.Over(file));
            configuration = configuration with { Shown = ShownSetting.Of(settings, file, configuration) };
            // Continuations of socket operations run on the socket's thread, except those of the node's own loops,
            // which may block and so run on the pool.
            SocketThreads.CompleteInline();
            var time = new CoalescingClock();
            await SocketThreads.RunOnPoolAsync(() =>
                NodeProcess.RunAsync(configuration, SystemParts.Of(configuration, time), time)
            );
            return ExitCode.Success;
        }
        catch (ConfigurationException invalid)
        {
            await Console.Error.WriteLineAsync(invalid.Message);
            return ExitCode.Configuration;
        }
    }
}
