using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Maps a node's id (22 random characters, stored in its data directory) to its <see cref="NodeId"/> in the consensus
/// core.
/// </summary>
public static class Members
{
    /// <summary>
    /// Returns the first eight bytes of the id's SHA-256, little-endian. Two members of one cluster collide with a
    /// probability of about 10^-18.
    /// </summary>
    public static NodeId IdOf(string nodeId)
    {
        ArgumentException.ThrowIfNullOrEmpty(nodeId);
        long value = BinaryPrimitives.ReadInt64LittleEndian(SHA256.HashData(Encoding.UTF8.GetBytes(nodeId)));
        return new NodeId(value == 0 ? 1 : value);
    }
}
