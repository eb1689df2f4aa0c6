using Rookery.Documents.Apply;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Nodes;

/// <summary>Applies stored frames of the journal.</summary>
public static class Replay
{
    /// <summary>Decodes and applies one frame. Its commands' outcomes are discarded.</summary>
    /// <exception cref="DataFormatException">The payload does not decode.</exception>
    /// <exception cref="UnappliedDamageException">The frame needs a row that cannot be read.</exception>
    public static void Apply(in JournalFrame frame, Applier applier)
    {
        try
        {
            Decode(frame, applier);
        }
        catch (DamagedException damaged)
        {
            throw new UnappliedDamageException(damaged);
        }
    }

    private static void Decode(in JournalFrame frame, Applier applier)
    {
        var position = new LogEntryPosition(frame.Index, frame.Term, frame.OperationsBefore, frame.OperationCount);
        if (frame.Type != FrameType.Batch)
        {
            applier.Apply(position, [], []);
            return;
        }

        int length = Payload.ContentLength(frame.Payload.Span);
        if (length < 0)
        {
            throw new DataFormatException(
                $"Entry {frame.Index} of the journal holds no payload that this version of Rookery can decode."
            );
        }

        var content = PooledMemory.Rent(length);
        try
        {
            if (!Payload.TryDecode(frame.Payload.Span, content.Span[..length]))
            {
                throw new DataFormatException(
                    $"The payload of entry {frame.Index} of the journal does not match its checksum."
                );
            }

            applier.Apply(position, content.Span[..length], []);
        }
        finally
        {
            content.Return();
        }
    }
}
