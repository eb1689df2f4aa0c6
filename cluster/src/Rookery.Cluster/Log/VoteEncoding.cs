using System.Buffers.Binary;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Log;

/// <summary>
/// The content of a vote frame of the journal: <c>[u8 format][i64 term][i64 voted for][i64 starts of the store]</c>,
/// little-endian.
/// </summary>
internal static class VoteEncoding
{
    private const byte Format = 1;
    private const int TermOffset = 1;
    private const int VotedForOffset = TermOffset + sizeof(long);
    private const int StartNumberOffset = VotedForOffset + sizeof(long);
    private const int Bytes = StartNumberOffset + sizeof(long);

    public static JournalFrame ToFrame(VoteRecord vote, long startNumber)
    {
        Span<byte> content = stackalloc byte[Bytes];
        content[0] = Format;
        BinaryPrimitives.WriteInt64LittleEndian(content[TermOffset..], vote.Term);
        BinaryPrimitives.WriteInt64LittleEndian(content[VotedForOffset..], vote.VotedFor.Value);
        BinaryPrimitives.WriteInt64LittleEndian(content[StartNumberOffset..], startNumber);
        return new JournalFrame(
            FrameType.Vote,
            Index: 0,
            vote.Term,
            OperationsBefore: 0,
            OperationCount: 0,
            StoredBytes.Encode(content)
        );
    }

    /// <summary>Reads the last vote and the number of starts; zeros when the journal has no vote frame.</summary>
    /// <exception cref="JournalFormatException">A newer version wrote it.</exception>
    public static (VoteRecord Vote, long StartNumber) Read(ReadOnlySpan<byte> payload)
    {
        if (payload.IsEmpty)
        {
            return default;
        }

        byte[] content = StoredBytes.Decode(payload);
        if (content.Length != Bytes || content[0] != Format)
        {
            throw new JournalFormatException(
                "The vote in the journal has a format that this version of Rookery does not know: start the "
                    + "newer version that wrote it."
            );
        }

        var span = content.AsSpan();
        return (
            new VoteRecord(
                BinaryPrimitives.ReadInt64LittleEndian(span[TermOffset..]),
                new NodeId(BinaryPrimitives.ReadInt64LittleEndian(span[VotedForOffset..]))
            ),
            BinaryPrimitives.ReadInt64LittleEndian(span[StartNumberOffset..])
        );
    }
}
