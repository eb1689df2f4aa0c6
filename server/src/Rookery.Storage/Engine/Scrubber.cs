namespace Rookery.Storage;

/// <summary>Walks over all runs and checks every byte against its checksum, a budget at a time. Where it is, is not kept over a restart: an idle node writes nothing.</summary>
internal sealed class Scrubber(EngineContext context)
{
    private long currentFile = -1;
    private long offset;

    /// <summary>Checks about <paramref name="budgetBytes"/> bytes.</summary>
    /// <returns>Whether the last file is done: the next call begins a new round.</returns>
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
            RunEntry? file = state.Runs.Files()
                .Where(entry => entry.IsReadable && entry.Summary.FileId >= currentFile)
                .MinBy(entry => entry.Summary.FileId);
            if (file is null)
            {
                currentFile = -1;
                offset = 0;
                return true;
            }

            if (file.Summary.FileId != currentFile)
            {
                currentFile = file.Summary.FileId;
                offset = 0;
            }

            RunDamage? damage = file.Reader!.Verify(offset, budgetBytes, out long next);
            if (damage is not null)
            {
                _ = context.Sources.Damage.Note(damage, file, context.NamesOf(file));
            }

            context.Options.Pacer?.Yield(next - offset, urgent: false);
            budgetBytes -= Math.Max(1, next - offset);
            offset = next;
            if (next >= file.Summary.FileBytes)
            {
                currentFile++;
                offset = 0;
            }
        }

        return false;
    }
}
