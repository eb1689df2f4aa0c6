using System.Security.Cryptography;
using Rookery.Cluster.Identity;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Cluster.Joining;

/// <summary>
/// A started join: the id and key with which the node asks to be admitted. Kept in the file <c>joining</c> of its data
/// directory until the join completes. If the cluster admits the node and the answer is lost, asking again with the
/// same id and key returns the same answer.
/// </summary>
/// <param name="ClusterId">The cluster to join.</param>
/// <param name="NodeId">The node's random id.</param>
/// <param name="Key">The node's key pair.</param>
internal sealed record JoinAttempt(string ClusterId, string NodeId, ECDsa Key)
{
    private const string Heading = "rookery joining 1";

    /// <summary>
    /// Returns the attempt that was started here for this cluster. If none can be read, writes a new one durably.
    /// </summary>
    public static JoinAttempt ResumeOrBegin(IDisk disk, string dataDirectory, string clusterId)
    {
        string path = PathIn(dataDirectory);
        if (disk.Exists(path) && TryRead(disk, path) is { } earlier)
        {
            if (string.Equals(earlier.ClusterId, clusterId, StringComparison.Ordinal))
            {
                return earlier;
            }

            earlier.Key.Dispose();
        }

        var attempt = new JoinAttempt(clusterId, NodeIds.Create().NodeId, NodeKey.Create());
        attempt.Write(disk, dataDirectory);
        return attempt;
    }

    /// <summary>Returns the path of the file.</summary>
    public static string PathIn(string dataDirectory) => Path.Join(dataDirectory, NodeIds.JoiningName);

    /// <summary>Whether an attempt was started here and is not completed.</summary>
    public static bool IsIn(IDisk disk, string dataDirectory) => disk.Exists(PathIn(dataDirectory));

    /// <summary>
    /// Deletes the attempt, because the node has joined and its identity contains the same id and key, or because no
    /// member can have admitted it.
    /// </summary>
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
