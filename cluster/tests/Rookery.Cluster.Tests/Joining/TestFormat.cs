using System.Text;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Joining;

/// <summary>Makes a data directory look, by its format file, like that of a node that was started.</summary>
internal static class TestFormat
{
    /// <summary>Writes the format file of a node with these ids.</summary>
    public static void Write(IDisk disk, string directory, NodeIds ids)
    {
        string content = $"rookery data format 1\nnode {ids.NodeId}\ncluster {ids.ClusterId}\n";
        disk.WriteNew(
            $"{directory}/format",
            Encoding.ASCII.GetBytes($"{content}check {Checksum.Of(Encoding.ASCII.GetBytes(content)):x8}\n")
        );
    }
}
