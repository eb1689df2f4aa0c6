using System.CommandLine;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Documents.Nodes;
using Rookery.Hosting;
using Rookery.Hosting.Machine;
using Rookery.Platform;
using Rookery.Server.Configuration;

namespace Rookery.Clusters;

/// <summary>`rookery cluster join`: makes a new node a member of a running cluster.</summary>
internal static class JoinCommand
{
    // The default port for members is the port for clients plus 1000.
    private const int PeerPortOffset = 1000;
    private const int DefaultClientPort = 8443;
    private const int DefaultPeerPort = DefaultClientPort + PeerPortOffset;
    private static readonly TimeSpan ResolvingTimeout = TimeSpan.FromSeconds(5);

    public static Command Create()
    {
        var token = new Argument<string>("TOKEN")
        {
            Description =
                "The token that `rookery cluster token create` printed on a member; - reads it from stdin, so that it "
                + "is not in the process list.",
        };
        var data = new Option<string>("--data")
        {
            Description =
                "Data directory of the new node: empty or missing, or that of a stopped, unclaimed node without "
                + "other members.",
            HelpName = "DIR",
            Required = true,
        };
        var name = new Option<string?>("--name")
        {
            Description = "The node's name [default: the machine's name].",
            HelpName = "NAME",
        };
        var address = new Option<string[]>("--address")
        {
            Description =
                "Address at which members reach this node, HOST or HOST:PORT; may be repeated [default: this "
                + "machine's addresses].",
            HelpName = "ADDRESS",
        };
        var port = WholeNumber.Option(
            "--peer-port",
            $"Port for members, if --address has none [default: {DefaultPeerPort}].",
            "PORT",
            least: 1,
            most: IPEndPoint.MaxPort
        );
        var publicUrl = new Option<string?>("--public-url")
        {
            Description = "URL at which clients reach this node, if it differs from the address that it listens on.",
            HelpName = "URL",
        };
        var mirror = new Option<bool>("--mirror")
        {
            Description =
                "As the second of two members, vote: no acknowledged write is lost if one card dies, but writes stop "
                + "while either is off [default: asked on a terminal, otherwise a standby].",
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
                        DirectoryPath.Absolute(parsed.GetValue(data)!),
                        new JoiningNode(
                            parsed.GetValue(name) ?? MemberName.OfHost(Environment.MachineName),
                            Addresses(parsed.GetValue(address), parsed.GetValue(port) ?? DefaultPeerPort),
                            parsed.GetValue(publicUrl)?.TrimEnd('/')
                        )
                        {
                            HasConfiguredAddresses = parsed.GetValue(address) is { Length: > 0 },
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
        string given = text is "-" ? await Console.In.ReadToEndAsync(cancellation) : text;
        if (!JoinToken.TryParse(given, out var token))
        {
            return await Refusal.WriteAsync(
                "That is not a join token, or only a part of one: it begins with \"rookery-join-1.\" and has no "
                    + "blanks. Copy it again, or create another with `rookery cluster token create`.",
                ExitCode.Configuration
            );
        }

        var disk = new PosixDisk();
        string? reason =
            ClusterCommand.WhyInvalidName(node.Name)
            ?? WhyNotReached(node)
            ?? JoinClient.WhyNot(disk, directory, token)
            ?? TryMoveNodeAside(disk, directory, token);
        if (reason is not null)
        {
            return await Refusal.WriteAsync(reason, ExitCode.Configuration);
        }

        if (node.Addresses.Any(static address => address.EndsWith($":{DefaultClientPort}", StringComparison.Ordinal)))
        {
            await Console.Error.WriteLineAsync(
                $"Other members will connect to this node at port {DefaultClientPort}, where clients usually connect; "
                    + $"members usually connect to port {DefaultPeerPort}. If the node does not listen for members at "
                    + $"port {DefaultClientPort}, it will not be reached: join again with another --address."
            );
        }

        foreach (string host in await UnresolvedAsync(node.Addresses, cancellation))
        {
            await Console.Error.WriteLineAsync(
                $"{host} does not resolve on this machine. If the other members cannot resolve it either, they do not "
                    + "find this node by it: join with an address that they reach."
            );
        }

        using var hold = StoppedDirectory.Hold(disk, directory);
        UnclaimedNode.Clear(disk, directory, hold);
        var joined = await new JoinClient(token, node, TimeProvider.System).JoinAsync(disk, directory, cancellation);
        await Console.Out.WriteLineAsync(
            isJson
                ? ToJson(joined)
                : $"{joined.Name} is member {joined.Tag} of the cluster {joined.ClusterName}, with "
                    + $"{string.Join(", ", joined.Members)}."
        );
        if (joined.Members is [var first])
        {
            await ChooseRoleAsync(
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
                "--mirror was ignored: it is for the second of two members; of more members the leader chooses "
                    + "the voters."
            );
        }

        // Printed after the question to the owner: during the question this process holds the directory, and a started
        // node would be refused.
        if (!isJson)
        {
            await Console.Out.WriteLineAsync(
                $"Start it with `rookery serve --data {directory} {DescribeListenOptions(node)}`. It copies all data "
                    + $"from the leader, and then votes if it is needed."
            );
        }

        return ExitCode.Success;
    }

    /// <summary>
    /// Moves aside the identity of an unclaimed node in the directory. Returns why the node in the directory is kept;
    /// null if the directory is free now.
    /// </summary>
    private static string? TryMoveNodeAside(PosixDisk disk, string directory, JoinToken token)
    {
        if (!IdentityDirectory.ExistsIn(disk, directory))
        {
            return null;
        }

        long memory = MemorySize.DefaultBytes();
        ProcessMemory.Bound(memory);
        return UnclaimedNode.MoveAside(
            disk,
            new NodeOptions { DataDirectory = directory },
            token.ClusterId,
            new MemoryBudget(memory),
            new IoTimeline(TimeProvider.System, disk.DeviceOf(directory)),
            TimeProvider.System
        );
    }

    /// <summary>
    /// Asks the owner of a cluster of two whether the new member votes. If both vote, writes stop when either is off;
    /// if not, only when the first is off. The question comes after the join: if the terminal closes, the node stays a
    /// standby.
    /// </summary>
    private static async Task ChooseRoleAsync(
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
                Two members: which role do you want for {second}?
                  A standby: only {first} must be on. If its card dies, writes that {second} had not received are lost.
                  A mirror: no acknowledged write is lost if one card dies, but writes stop while either is off.
                  A third member ends the choice: any one of three may be off, and no acknowledged write is lost.
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
                ? $"{second} is a mirror: it votes once it runs and has all data. `rookery cluster node demote "
                    + $"{second}` makes it a standby."
                : $"{second} is a standby. Once it runs, `rookery cluster node promote {second}` makes it a mirror."
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

    private static IReadOnlyList<string> Addresses(string[]? configured, int port) =>
        configured is { Length: > 0 } ? [.. configured.Select(address => WithPort(address, port))]
        // Uses IPv6 addresses only if the machine has no IPv4 address, because the node may listen on IPv4 only.
        : PeerAddresses.Of(new IPEndPoint(IPAddress.Any, port)) is { Count: > 0 } addresses
            ? [.. addresses.Take(MemberAddress.MaxAddresses)]
        : [.. PeerAddresses.Of(new IPEndPoint(IPAddress.IPv6Any, port)).Take(MemberAddress.MaxAddresses)];

    private static string? WhyNotReached(JoiningNode node)
    {
        if (node.Addresses.Count == 0)
        {
            return "This machine has no address at which members could reach it. Pass one by --address.";
        }

        if (node.Addresses.FirstOrDefault(MemberAddress.IsUnspecified) is { } any)
        {
            return $"{any} means all addresses of a machine, so other members cannot connect to it. "
                + $"Pass by --address an address or name at which the other members reach this machine, or "
                + $"omit the option to use this machine's own addresses.";
        }

        if (node.Addresses.Count > MemberAddress.MaxAddresses)
        {
            return $"--address may be given at most {MemberAddress.MaxAddresses} times.";
        }

        if (node.Addresses.FirstOrDefault(static address => !MemberAddress.IsValid(address)) is { } wrong)
        {
            return $"\"{wrong}\" is not an address at which members could reach this node. {MemberAddress.Rule}";
        }

        if (node.PublicUrl is { } url && !MemberAddress.IsClientUrl(url))
        {
            return $"--public-url must be a URL such as https://node.example:8443, not \"{url}\".";
        }

        return node.Addresses.FirstOrDefault(address => IsForClients(address, node.PublicUrl)) is { } clients
            ? $"--address {clients} is the address for clients, by --public-url. Other members connect to another "
                + $"port, {DefaultPeerPort} unless `rookery serve --peer-listen` names one: pass that one, or none."
            : null;
    }

    /// <summary>Returns the names among the addresses that this machine cannot resolve.</summary>
    internal static async Task<IReadOnlyList<string>> UnresolvedAsync(
        IReadOnlyList<string> addresses,
        CancellationToken cancellation
    )
    {
        var unresolved = new List<string>();
        foreach (string address in addresses)
        {
            string host = address[..address.LastIndexOf(':')].Trim('[', ']');
            using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
            timeout.CancelAfter(ResolvingTimeout);
            try
            {
                if (!IPAddress.TryParse(host, out _))
                {
                    await Dns.GetHostAddressesAsync(host, timeout.Token);
                }
            }
            catch (SocketException)
            {
                unresolved.Add(host);
            }
            catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
            {
                unresolved.Add(host);
            }
        }

        return unresolved;
    }

    /// <summary>
    /// Returns whether an address for members is that of the URL for clients. A node with such an address would be
    /// registered, and no member would reach it.
    /// </summary>
    private static bool IsForClients(string address, string? publicUrl) =>
        publicUrl is not null
        && new Uri(publicUrl) is var url
        && string.Equals(address, $"{url.Host}:{url.Port}", StringComparison.OrdinalIgnoreCase);

    /// <summary>
    /// Returns the options of `rookery serve` with which members reach the node at its registered address.
    /// </summary>
    private static string DescribeListenOptions(JoiningNode node)
    {
        string first = node.Addresses[0];
        int port = int.Parse(first.AsSpan(first.LastIndexOf(':') + 1), CultureInfo.InvariantCulture);
        bool isOwn =
            node.HasConfiguredAddresses
            && IPEndPoint.TryParse(first, out var endpoint)
            && (IPAddress.IsLoopback(endpoint.Address) || PeerAddresses.OfThisMachine().Contains(endpoint.Address));
        var address = isOwn ? IPEndPoint.Parse(first).Address : IPAddress.Any;
        return port > PeerPortOffset
            ? $"--listen https://{new IPEndPoint(address, port - PeerPortOffset)}"
            : $"--listen https://{new IPEndPoint(address, DefaultClientPort)} --peer-listen "
                + $"{new IPEndPoint(address, port)}";
    }

    private static string WithPort(string address, int port)
    {
        if (IPAddress.TryParse(address, out var bare))
        {
            return new IPEndPoint(bare, port).ToString();
        }

        return address.Contains(':', StringComparison.Ordinal) ? address : $"{address}:{port}";
    }

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
