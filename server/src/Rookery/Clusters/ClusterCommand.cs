using System.CommandLine;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Documents.Nodes;
using Rookery.Hosting;
using Rookery.Hosting.Machine;
using Rookery.Platform;

namespace Rookery.Clusters;

/// <summary>`rookery cluster`: founds clusters, joins them and manages their members.</summary>
internal static class ClusterCommand
{
    public static Command Create() =>
        new("cluster", "The cluster that a node belongs to.")
        {
            CreateInit(),
            JoinTokenCommand.Create(),
            JoinCommand.Create(),
            NodeCommand.Create(),
            ClockCommand.Create(),
            FinalizeUpgradeCommand.Create(),
            AuthorityCommand.Create(),
            RecoverCommand.Create(),
        };

    /// <summary>Returns why a name is not allowed, as a sentence; null if it is allowed.</summary>
    public static string? WhyInvalidName(string name) =>
        MemberName.IsValid(name) ? null : $"\"{name}\" is not allowed as a name. {MemberName.Rule}";

    private static Command CreateInit()
    {
        var data = new Option<string>("--data")
        {
            Description = "Data directory of the stopped node, or a new one.",
            HelpName = "DIR",
            Required = true,
        };
        var cluster = new Option<string>("--name")
        {
            Description = "The cluster's name.",
            HelpName = "NAME",
            DefaultValueFactory = static _ => "rookery",
        };
        var node = new Option<string?>("--node-name")
        {
            Description = "The node's name [default: the machine's name].",
            HelpName = "NAME",
        };
        var dns = new Option<string[]>("--dns")
        {
            Description =
                "A name or domain that certificates may contain besides the nodes' names and NAME.local; may be "
                + "repeated.",
            HelpName = "NAME",
        };
        var json = new Option<bool>("--json") { Description = "Print the result as JSON." };
        var command = new Command(
            "init",
            "Found a cluster of one node: creates its certificate authority and the node's certificate."
        )
        {
            data,
            cluster,
            node,
            dns,
            json,
        };
        command.SetAction(
            (parsed, _) =>
                Refusal.GuardAsync(() =>
                    InitAsync(
                        DirectoryPath.Absolute(parsed.GetValue(data)!),
                        parsed.GetValue(cluster)!,
                        parsed.GetValue(node) ?? MemberName.OfHost(Environment.MachineName),
                        parsed.GetValue(dns) ?? [],
                        parsed.GetValue(json)
                    )
                )
        );
        return command;
    }

    private static async Task<int> InitAsync(
        string directory,
        string clusterName,
        string nodeName,
        string[] names,
        bool isJson
    )
    {
        if ((WhyInvalidName(clusterName) ?? WhyInvalidName(nodeName)) is { } noName)
        {
            return await Refusal.WriteAsync(noName, ExitCode.Configuration);
        }

        if (Array.Find(names, static name => !MemberName.IsValidDomain(name)) is { } wrong)
        {
            return await Refusal.WriteAsync($"\"{wrong}\" is not a DNS name.", ExitCode.Configuration);
        }

        var disk = new PosixDisk();
        string? whyNot =
            JoinClient.WhyUnfinished(disk, directory)
            ?? Node.WhyNotNew(disk, new NodeOptions { DataDirectory = directory });
        if (whyNot is not null)
        {
            return await Refusal.WriteAsync(whyNot, ExitCode.Configuration);
        }

        using var hold = StoppedDirectory.Hold(disk, directory);
        var ids = NodeIds.TryRead(disk, directory) ?? NodeIds.Create();
        using var identity = ClusterFounding.Found(
            ids,
            new NodeNames(nodeName, clusterName, [.. PeerAddresses.OfThisMachine()]),
            names,
            TimeProvider.System.GetUtcNow()
        );
        IdentityDirectory.Create(disk, directory, identity);
        await Console.Out.WriteLineAsync(
            isJson
                ? ToJson(identity)
                : $"Cluster '{clusterName}' has the node '{nodeName}'. Start it with `rookery serve --data "
                    + $"{directory} --listen https://0.0.0.0:8443`."
        );
        return ExitCode.Success;
    }

    private static string ToJson(NodeIdentity identity) =>
        JsonLine.Of(json =>
        {
            json.WriteString("Cluster"u8, identity.ClusterName);
            json.WriteString("ClusterId"u8, identity.ClusterId);
            json.WriteString("Node"u8, identity.NodeName);
            json.WriteString("NodeId"u8, identity.NodeId);
            json.WriteString("Authority"u8, identity.Authorities[0].ExportCertificatePem());
        });
}
