using System.Buffers.Binary;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Log;

/// <summary>
/// The content of a configuration frame: <c>[u8 format][i64 index of its entry][u8 voters][u8 second set of voters][u8
/// learners][i64 id]*</c>, little-endian. The second set is always empty; it is reserved for joint consensus. The index
/// is part of the payload, because segment headers repeat only the payload.
/// </summary>
internal static class ConfigurationEncoding
{
    private const byte Format = 1;
    private const int IndexOffset = 1;
    private const int VotersOffset = IndexOffset + sizeof(long);
    private const int SecondVotersOffset = VotersOffset + 1;
    private const int LearnersOffset = SecondVotersOffset + 1;
    private const int HeadBytes = LearnersOffset + 1;

    public static byte[] Encode(Configuration configuration, long index)
    {
        var voters = configuration.Voters;
        var learners = configuration.Learners;
        byte[] content = new byte[HeadBytes + ((voters.Length + learners.Length) * sizeof(long))];
        content[0] = Format;
        BinaryPrimitives.WriteInt64LittleEndian(content.AsSpan(IndexOffset), index);
        content[VotersOffset] = checked((byte)voters.Length);
        content[LearnersOffset] = checked((byte)learners.Length);
        int at = HeadBytes;
        NodeId[] members = [.. voters, .. learners];
        foreach (var node in members)
        {
            BinaryPrimitives.WriteInt64LittleEndian(content.AsSpan(at), node.Value);
            at += sizeof(long);
        }

        return StoredBytes.Encode(content);
    }

    /// <summary>
    /// Reads a configuration and the index of its entry. For an empty payload: <see cref="Configuration.Empty"/> and 0.
    /// </summary>
    /// <exception cref="JournalFormatException">A newer version wrote it.</exception>
    public static (Configuration Configuration, long Index) Read(ReadOnlySpan<byte> payload)
    {
        if (payload.IsEmpty)
        {
            return (Configuration.Empty, 0);
        }

        byte[] content = StoredBytes.Decode(payload);
        if (
            content.Length < HeadBytes
            || content[0] != Format
            || content[SecondVotersOffset] != 0
            || content.Length != HeadBytes + ((content[VotersOffset] + content[LearnersOffset]) * sizeof(long))
        )
        {
            throw new JournalFormatException(
                "The configuration in the journal has a format that this version of Rookery does not know: "
                    + "start the newer version that wrote it."
            );
        }

        int voters = content[VotersOffset];
        var ids = new NodeId[voters + content[LearnersOffset]];
        for (int i = 0; i < ids.Length; i++)
        {
            ids[i] = new NodeId(BinaryPrimitives.ReadInt64LittleEndian(content.AsSpan(HeadBytes + (i * sizeof(long)))));
        }

        return (
            Configuration.Of(ids[..voters], ids[voters..]),
            BinaryPrimitives.ReadInt64LittleEndian(content.AsSpan(IndexOffset))
        );
    }
}
