namespace Rookery.Storage;

/// <summary>Walks a sorted run file by file; opens a file when the walk comes to it.</summary>
internal sealed class SortedRunCursor(RunEntry[] files, DamageRegistry registry, string tables, Func<RunReader, RunCursor> open) : IRowCursor
{
    private RunCursor? current;
    private int place;
    private bool backward;

    public ReadOnlySpan<byte> Key => current!.Key;

    public long Sequence => current!.Sequence;

    public RowKind Kind => current!.Kind;

    public ReadOnlySpan<byte> Value => current!.Value;

    public RunDamage? Damage { get; private set; }

    public bool SeekForward(ReadOnlySpan<byte> from)
    {
        backward = false;
        place = 0;
        while (place < files.Length && files[place].LastKey.SequenceCompareTo(from) < 0)
        {
            place++;
        }

        if (place == files.Length)
        {
            return false;
        }

        ReadOnlySpan<byte> first = files[place].FirstKey;
        return OpenCurrent() && (Check(current!.SeekForward(from.SequenceCompareTo(first) > 0 ? from : first)) || NextFile());
    }

    public bool SeekBackward(ReadOnlySpan<byte> toExclusive)
    {
        backward = true;
        place = files.Length - 1;
        while (place >= 0 && !toExclusive.IsEmpty && files[place].FirstKey.SequenceCompareTo(toExclusive) >= 0)
        {
            place--;
        }

        return place >= 0 && OpenCurrent() && (CheckBackward(current!.SeekBackward(toExclusive)) || NextFile());
    }

    public bool Move() => backward
        ? CheckBackward(current!.Move()) || NextFile()
        : Check(current!.Move()) || NextFile();

    public void Dispose()
    {
        current?.Dispose();
        current = null;
    }

    private bool NextFile()
    {
        while (Damage is null)
        {
            place += backward ? -1 : 1;
            if (place < 0 || place == files.Length || !OpenCurrent())
            {
                return false;
            }

            if (backward ? CheckBackward(current!.SeekBackward([])) : Check(current!.SeekForward(files[place].FirstKey)))
            {
                return true;
            }
        }

        return false;
    }

    private bool OpenCurrent()
    {
        current?.Dispose();
        current = null;
        RunEntry file = files[place];
        if (!file.IsReadable)
        {
            Note(file.Damage!);
            return false;
        }

        current = open(file.Reader);
        return true;
    }

    private bool Check(bool found)
    {
        if (current!.Damage is { } damage)
        {
            Note(damage);
            return false;
        }

        return found;
    }

    // Rows below the first key that counts were moved elsewhere by compaction.
    private bool CheckBackward(bool found) => Check(found) && current!.Key.SequenceCompareTo(files[place].FirstKey) >= 0;

    private void Note(RunDamage damage)
    {
        Damage = damage.Within(files[place], tables);
        _ = registry.Note(Damage, files[place], tables);
    }
}
