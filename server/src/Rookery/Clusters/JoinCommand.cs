using System.CommandLine;
using System.Globalization;
using System.Net;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Documents.Nodes;
using Rookery.Hosting;
using Rookery.Hosting.Machine;
using Rookery.Platform;
using Rookery.Server.Configuration;

namespace Rookery.Clusters;

/// <summary>`rookery cluster join`: makes a fresh node a member of a running cluster.</summary>
internal static class JoinCommand
{
    // Beside the port for clients, a thousand higher.
    private const int PeerPortOffset = 1000;
    private const int DefaultClientPort = 8443;
    private const int DefaultPeerPort = DefaultClientPort + PeerPortOffset;

    public static Command Create()
    {
        var token = new Argument<string>("TOKEN")
        {
            Description =
                "What `rookery cluster token create` printed on a member; - reads it from stdin, so that it "
                + "stands in no list of processes.",
        };
        var data = new Option<string>("--data")
        {
            Description =
                "Data directory of the new node; empty, made when it is missing, or that of a stopped node "
                + "alone that nobody has claimed.",
            HelpName = "DIR",
            Required = true,
        };
        var name = new Option<string?>("--name")
        {
            Description = "What to call the node [default: the machine's name].",
            HelpName = "NAME",
        };
        var address = new Option<string[]>("--address")
        {
            Description =
                "Where members reach this node, HOST or HOST:PORT; may be repeated [default: this machine's "
                + "addresses].",
            HelpName = "ADDRESS",
        };
        var port = WholeNumber.Option(
            "--peer-port",
            $"Port for members, where --address says none [default: {DefaultPeerPort}].",
            "PORT",
            least: 1,
            most: IPEndPoint.MaxPort
        );
        var publicUrl = new Option<string?>("--public-url")
        {
            Description = "Where clients reach this node, if that is not where it listens.",
            HelpName = "URL",
        };
        var mirror = new Option<bool>("--mirror")
        {
            Description =
                "As the second of two, vote too: nothing acknowledged is lost with one card, but writes stop "
                + "when either is off [default: asked on a terminal, otherwise a standby].",
        };
        var json = new Option<bool>("--json") { Description = "Print the result as JSON." };
        var command = new Command("join", "Let a new node join a running cluster.")
        {
            token,
            data,
            name,
            address,
            port,
            publicUrl,
            mirror,
            json,
        };
        command.SetAction(
            (parsed, cancellation) =>
                Refusal.GuardAsync(() =>
                    RunAsync(
                        parsed.GetValue(token)!,
                        Path.GetFullPath(parsed.GetValue(data)!),
                        new JoiningNode(
                            parsed.GetValue(name) ?? MemberName.OfHost(Environment.MachineName),
                            Addresses(parsed.GetValue(address), parsed.GetValue(port) ?? DefaultPeerPort),
                            parsed.GetValue(publicUrl)?.TrimEnd('/')
                        )
                        {
                            AreAddressesSaid = parsed.GetValue(address) is { Length: > 0 },
                        },
                        parsed.GetValue(mirror),
                        parsed.GetValue(json),
                        cancellation
                    )
                )
        );
        return command;
    }

    private static async Task<int> RunAsync(
        string text,
        string directory,
        JoiningNode node,
        bool isMirror,
        bool isJson,
        CancellationToken cancellation
    )
    {
        if (!JoinToken.TryParse(text is "-" ? await Console.In.ReadToEndAsync(cancellation) : text, out var token))
        {
            return await Refusal.WriteAsync(
                "That is no join token, or not all of it: it begins with \"rookery-join-1.\" and has no "
                    + "blanks. Copy it again, or make another with `rookery cluster token create`.",
                ExitCode.Configuration
            );
        }

        var disk = new PosixDisk();
        if (
            (
                ClusterCommand.WhyNoName(node.Name)
                ?? WhyNotReached(node)
                ?? JoinClient.WhyNot(disk, directory, token)
                ?? WhyKept(disk, directory, token)
            ) is
            { } reason
        )
        {
            return await Refusal.WriteAsync(reason, ExitCode.Configuration);
        }

        using var held = StoppedDirectory.Hold(disk, directory);
        UnclaimedNode.Clear(disk, directory, held);
        var joined = await new JoinClient(token, node, TimeProvider.System).JoinAsync(disk, directory, cancellation);
        await Console.Out.WriteLineAsync(
            isJson
                ? ToJson(joined)
                : $"{joined.Name} is member {joined.Tag} of the cluster {joined.ClusterName}, with "
                    + $"{string.Join(", ", joined.Members)}."
        );
        if (joined.Members is [var first])
        {
            await ChooseOfTwoAsync(
                disk,
                directory,
                first,
                joined.Name,
                isMirror,
                mayAsk: !isJson && !Console.IsInputRedirected
            );
        }
        else if (isMirror)
        {
            await Console.Error.WriteLineAsync(
                "--mirror is for the second of two, and was passed over: of more members the leader decides who votes."
            );
        }

        // Last: as long as the owner is asked, the directory is held, and a node that he starts is refused.
        if (!isJson)
        {
            await Console.Out.WriteLineAsync(
                $"Start it with `rookery serve --data {directory} {Listen(node)}`: it takes over all data, "
                    + $"and then votes if it is needed."
            );
        }

        return ExitCode.Success;
    }

    /// <summary>Puts a node away that nobody has claimed, and says of another why not.</summary>
    private static string? WhyKept(PosixDisk disk, string directory, JoinToken token)
    {
        if (!IdentityDirectory.ExistsIn(disk, directory))
        {
            return null;
        }

        long memory = MemorySize.DefaultBytes();
        ProcessMemory.Bound(memory);
        return UnclaimedNode.PutAway(
            disk,
            new NodeOptions { DataDirectory = directory },
            token.ClusterId,
            new MemoryBudget(memory),
            new IoTimeline(TimeProvider.System, disk.DeviceOf(directory)),
            TimeProvider.System
        );
    }

    /// <summary>
    /// Two bear no loss of either without a price, and which price is the owner's choice. It is asked when the node is
    /// in: a terminal that goes away leaves a standby.
    /// </summary>
    private static async Task ChooseOfTwoAsync(
        PosixDisk disk,
        string directory,
        string first,
        string second,
        bool isMirror,
        bool mayAsk
    )
    {
        if (!isMirror)
        {
            await Console.Error.WriteLineAsync(
                $"""
                Two members: which do you want?
                  A standby: only {first} has to be on. If its card dies, the last writes that {second} had not received yet are lost.
                  A mirror: nothing acknowledged is lost with one card, but writes stop when either is off.
                  A third member ends the choice: of three one may be off, and nothing is lost.
                """
            );
            isMirror = mayAsk && await WantsMirrorAsync();
        }

        if (isMirror)
        {
            JoinClient.ChooseMirror(disk, directory);
        }

        await Console.Error.WriteLineAsync(
            isMirror
                ? $"A mirror: {second} votes when it runs and has everything. `rookery cluster node demote "
                    + $"{second}` makes it a standby."
                : $"A standby. Once it runs, `rookery cluster node promote {second}` makes it a mirror."
        );
    }

    private static async Task<bool> WantsMirrorAsync()
    {
        while (true)
        {
            await Console.Error.WriteAsync("Mirror or standby? [standby] ");
            switch ((await Console.In.ReadLineAsync())?.Trim().ToLowerInvariant())
            {
                case "mirror" or "m":
                    return true;
                case "standby" or "s" or "" or null:
                    return false;
            }
        }
    }

    private static IReadOnlyList<string> Addresses(string[]? said, int port) =>
        said is { Length: > 0 }
            ? [.. said.Select(address => WithPort(address, port))]
            : [.. PeerAddresses.Of(new IPEndPoint(IPAddress.Any, port)).Take(MemberAddress.Most)];

    private static string? WhyNotReached(JoiningNode node) =>
        node.Addresses switch
        {
            { Count: 0 } => "This machine has no address at which members could reach it. Say one with --address.",
            _ when node.Addresses.FirstOrDefault(MemberAddress.IsUnspecified) is { } any =>
                $"{any} is where a node listens on all of its networks, and nowhere that others could dial. "
                    + $"Say with --address an address or name by which the other members reach this machine, or "
                    + $"leave it out: then it is this machine's own addresses.",
            { Count: > MemberAddress.Most } => $"--address may be given {MemberAddress.Most} times.",
            _ when node.Addresses.FirstOrDefault(static address => !MemberAddress.IsValid(address)) is { } wrong =>
                $"\"{wrong}\" is no address at which members could reach this node. {MemberAddress.Rule}",
            _ when node.PublicUrl is { } url && !MemberAddress.IsClientUrl(url) =>
                $"The URL by which clients reach this node must look like https://node.example:8443, not "
                    + $"like \"{url}\".",
            _ => null,
        };

    /// <summary>How the node is started so that members reach it where they were told.</summary>
    private static string Listen(JoiningNode node)
    {
        string first = node.Addresses[0];
        int port = int.Parse(first.AsSpan(first.LastIndexOf(':') + 1), CultureInfo.InvariantCulture);
        bool isOwn =
            node.AreAddressesSaid
            && IPEndPoint.TryParse(first, out var said)
            && (IPAddress.IsLoopback(said.Address) || PeerAddresses.OfThisMachine().Contains(said.Address));
        var address = isOwn ? IPEndPoint.Parse(first).Address : IPAddress.Any;
        return port > PeerPortOffset
            ? $"--listen https://{new IPEndPoint(address, port - PeerPortOffset)}"
            : $"--listen https://{new IPEndPoint(address, DefaultClientPort)} --peer-listen "
                + $"{new IPEndPoint(address, port)}";
    }

    private static string WithPort(string address, int port) =>
        address switch
        {
            _ when IPAddress.TryParse(address, out var bare) => new IPEndPoint(bare, port).ToString(),
            _ when address.Contains(':', StringComparison.Ordinal) => address,
            _ => $"{address}:{port}",
        };

    private static string ToJson(JoinedCluster joined) =>
        JsonLine.Of(json =>
        {
            json.WriteString("Cluster"u8, joined.ClusterName);
            json.WriteString("ClusterId"u8, joined.ClusterId);
            json.WriteString("Node"u8, joined.Name);
            json.WriteString("NodeId"u8, joined.NodeId);
            json.WriteString("Tag"u8, joined.Tag);
            json.WriteStartArray("Members"u8);
            foreach (string member in joined.Members)
            {
                json.WriteStringValue(member);
            }

            json.WriteEndArray();
        });
}
