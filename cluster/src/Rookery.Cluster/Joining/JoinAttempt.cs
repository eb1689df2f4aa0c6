using System.Security.Cryptography;
using Rookery.Cluster.Identity;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Cluster.Joining;

/// <summary>
/// Who a node asks to become: its id and key, kept in <c>joining</c> of its data directory from before it asks until it
/// is in. The cluster may give it a seat and the answer be lost; asked again by the same id and key it gives the same
/// seat.
/// </summary>
/// <param name="ClusterId">The cluster that is asked.</param>
/// <param name="NodeId">The node's random id.</param>
/// <param name="Key">Its key.</param>
internal sealed record JoinAttempt(string ClusterId, string NodeId, ECDsa Key)
{
    private const string Heading = "rookery joining 1";

    /// <summary>
    /// The attempt that was begun here to join this cluster; a new one, written down durably, when there is none that
    /// can be read.
    /// </summary>
    public static JoinAttempt Take(IDisk disk, string dataDirectory, string clusterId)
    {
        string path = PathIn(dataDirectory);
        if (disk.Exists(path) && TryRead(disk, path) is { } begun)
        {
            if (string.Equals(begun.ClusterId, clusterId, StringComparison.Ordinal))
            {
                return begun;
            }

            begun.Key.Dispose();
        }

        var made = new JoinAttempt(clusterId, NodeIds.Create().NodeId, NodeKey.Create());
        made.Write(disk, dataDirectory);
        return made;
    }

    /// <summary>Where it lies.</summary>
    public static string PathIn(string dataDirectory) => Path.Join(dataDirectory, NodeIds.JoiningName);

    /// <summary>Whether one was begun here, and not ended.</summary>
    public static bool IsIn(IDisk disk, string dataDirectory) => disk.Exists(PathIn(dataDirectory));

    /// <summary>Deletes it: the node is in, and its identity holds what this held.</summary>
    public static void Forget(IDisk disk, string dataDirectory)
    {
        if (IsIn(disk, dataDirectory))
        {
            disk.Delete(PathIn(dataDirectory));
            disk.SyncDirectory(dataDirectory);
        }
    }

    private static JoinAttempt? TryRead(IDisk disk, string path)
    {
        if (
            CheckedText.Decode(CheckedText.ReadBytes(disk, path))?.Split('\n', 4)
            is not [Heading, var clusterId, var nodeId, var pem]
        )
        {
            return null;
        }

        var key = ECDsa.Create();
        try
        {
            key.ImportFromPem(pem);
            return new JoinAttempt(clusterId, nodeId, key);
        }
        catch (Exception unreadable) when (unreadable is CryptographicException or ArgumentException)
        {
            key.Dispose();
            return null;
        }
    }

    private void Write(IDisk disk, string dataDirectory) =>
        CheckedText.Replace(
            disk,
            dataDirectory,
            NodeIds.JoiningName,
            $"{Heading}\n{ClusterId}\n{NodeId}\n{Key.ExportPkcs8PrivateKeyPem()}\n"
        );
}
