using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Checks every byte of all run files against its checksum, in steps. The progress is not stored on disk, because an
/// idle node writes nothing: after a restart the scrub begins again.
/// </summary>
internal sealed class Scrubber(EngineContext context)
{
    private long _currentFile = -1;
    private long _offset;

    /// <summary>Checks about <paramref name="budgetBytes"/> bytes.</summary>
    /// <returns>Whether all files were checked; the next call starts again with the first.</returns>
    public bool Step(long budgetBytes)
    {
        EngineState state = context.Published.Acquire();
        try
        {
            return Step(state, budgetBytes);
        }
        finally
        {
            state.Release();
        }
    }

    private bool Step(EngineState state, long budgetBytes)
    {
        while (budgetBytes > 0)
        {
            RunEntry? file = state
                .Runs.Files()
                .Where(entry => entry.IsReadable && entry.Summary.FileId >= _currentFile)
                .MinBy(entry => entry.Summary.FileId);
            if (file is null)
            {
                _currentFile = -1;
                _offset = 0;
                return true;
            }

            if (file.Summary.FileId != _currentFile)
            {
                _currentFile = file.Summary.FileId;
                _offset = 0;
            }

            RunDamage? damage = file.Reader!.Verify(_offset, budgetBytes, out long next);
            if (damage is not null)
            {
                _ = context.Sources.Damage.Register(damage, file, context.NamesOf(file));
            }

            context.Options.Pacer?.Yield(next - _offset, urgent: false);
            budgetBytes -= Math.Max(1, next - _offset);
            _offset = next;
            if (next >= file.Summary.FileBytes)
            {
                _currentFile++;
                _offset = 0;
            }
        }

        return false;
    }
}
