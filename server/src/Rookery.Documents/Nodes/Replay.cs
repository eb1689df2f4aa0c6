using Rookery.Documents.Apply;
using Rookery.Journal;
using Rookery.Platform;

namespace Rookery.Documents.Nodes;

/// <summary>Applies stored frames of the journal.</summary>
internal static class Replay
{
    /// <summary>Decodes and applies one frame. Its commands' outcomes are discarded.</summary>
    /// <exception cref="DataFormatException">The payload does not decode.</exception>
    public static void Apply(in JournalFrame frame, Applier applier)
    {
        var position = new FramePosition(frame.Index, frame.Term, frame.OperationsBefore, frame.OperationCount);
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
