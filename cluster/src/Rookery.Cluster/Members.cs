using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// From a node's identity, 22 random characters in its data directory, to the number by which the consensus core knows
/// it.
/// </summary>
public static class Members
{
    /// <summary>
    /// The first eight bytes of the SHA-256 of the identity, little-endian: two members of one cluster meet by chance
    /// once in 10^18.
    /// </summary>
    public static NodeId IdOf(string nodeId)
    {
        ArgumentException.ThrowIfNullOrEmpty(nodeId);
        long value = BinaryPrimitives.ReadInt64LittleEndian(SHA256.HashData(Encoding.UTF8.GetBytes(nodeId)));
        return new NodeId(value == 0 ? 1 : value);
    }
}
