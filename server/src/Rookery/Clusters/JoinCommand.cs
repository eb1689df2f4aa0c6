using System.CommandLine;
using System.Net;
using Rookery.Access;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Disk;
using Rookery.Documents;

namespace Rookery.Clusters;

/// <summary>`rookery cluster join`: makes a fresh node a member of a running cluster.</summary>
internal static class JoinCommand
{
    // That for clients, 8080 by default, and a thousand.
    private const int DefaultPeerPort = 9080;

    public static Command Create()
    {
        var token = new Argument<string>("TOKEN") { Description = "What `rookery cluster token create` printed on a member; - reads it from stdin, so that it stands in no list of processes." };
        var data = new Option<string>("--data") { Description = "Data directory of the new node; empty, or made when it is missing.", HelpName = "DIR", Required = true };
        var name = new Option<string?>("--name") { Description = "What to call the node [default: the machine's name].", HelpName = "NAME" };
        var address = new Option<string[]>("--address") { Description = "Where members reach this node, HOST or HOST:PORT; may be repeated [default: this machine's addresses].", HelpName = "ADDRESS" };
        var port = new Option<int>("--peer-port") { Description = $"Port for members, where --address says none [default: {DefaultPeerPort}].", HelpName = "PORT", DefaultValueFactory = static _ => DefaultPeerPort };
        var publicUrl = new Option<string?>("--public-url") { Description = "Where clients reach this node, if that is not where it listens.", HelpName = "URL" };
        var json = new Option<bool>("--json") { Description = "Print the result as JSON." };
        var command = new Command("join", "Let a new node join a running cluster.") { token, data, name, address, port, publicUrl, json };
        command.SetAction((parsed, cancellation) => IdentityGuard.GuardAsync(() => RunAsync(
            parsed.GetValue(token)!,
            Path.GetFullPath(parsed.GetValue(data)!),
            new JoiningNode(
                parsed.GetValue(name) ?? MemberName.OfHost(Environment.MachineName), Addresses(parsed.GetValue(address), parsed.GetValue(port)), parsed.GetValue(publicUrl)),
            parsed.GetValue(json),
            cancellation)));
        return command;
    }

    private static async Task<int> RunAsync(string text, string directory, JoiningNode node, bool isJson, CancellationToken cancellation)
    {
        if (!JoinToken.TryParse(text is "-" ? await Console.In.ReadToEndAsync(cancellation) : text, out var token))
        {
            return await Refusal.WriteAsync("That is no join token, or not all of it: it begins with \"rookery-join-1.\" and has no blanks. Copy it again, or make another with `rookery cluster token create`.", ExitCode.Configuration);
        }

        var disk = new PosixDisk();
        if ((ClusterCommand.WhyNoName(node.Name) ?? JoinClient.WhyNot(disk, directory, token)) is { } reason)
        {
            return await Refusal.WriteAsync(reason, ExitCode.Configuration);
        }

        using var held = StoppedDirectory.Hold(disk, directory);
        var joined = await new JoinClient(token, node).JoinAsync(disk, directory, cancellation);
        await Console.Out.WriteLineAsync(isJson
            ? ToJson(joined, node)
            : $"{node.Name} is member {joined.Tag} of the cluster {joined.ClusterName}, with {string.Join(", ", joined.Members)}. Start it with `rookery serve --data {directory}`: it takes over all data, and then votes if it is needed.");
        return ExitCode.Success;
    }

    private static IReadOnlyList<string> Addresses(string[]? said, int port) =>
        said is { Length: > 0 } ? [.. said.Select(address => WithPort(address, port))] : PeerAddresses.Of(new IPEndPoint(IPAddress.Any, port));

    private static string WithPort(string address, int port) => address switch
    {
        _ when IPAddress.TryParse(address, out var bare) => new IPEndPoint(bare, port).ToString(),
        _ when address.Contains(':', StringComparison.Ordinal) => address,
        _ => $"{address}:{port}",
    };

    private static string ToJson(JoinedCluster joined, JoiningNode node) => JsonLine.Of(json =>
    {
        json.WriteString("Cluster"u8, joined.ClusterName);
        json.WriteString("ClusterId"u8, joined.ClusterId);
        json.WriteString("Node"u8, node.Name);
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
