using Rookery.Storage.Runs;

namespace Rookery.Storage.State;

/// <summary>Iterates over a sorted run file by file; opens a file when it reaches it.</summary>
internal sealed class SortedRunCursor(
    RunEntry[] files,
    DamageRegistry registry,
    string tables,
    Func<RunReader, RunCursor> open
) : IRowCursor
{
    private RunCursor? _current;
    private int _fileIndex;
    private bool _isBackward;

    public ReadOnlySpan<byte> Key => _current!.Key;

    public long Sequence => _current!.Sequence;

    public RowKind Kind => _current!.Kind;

    public ReadOnlySpan<byte> Value => _current!.Value;

    public RunDamage? Damage { get; private set; }

    public bool SeekForward(ReadOnlySpan<byte> from)
    {
        _isBackward = false;
        _fileIndex = 0;
        while (_fileIndex < files.Length && files[_fileIndex].LastKey.SequenceCompareTo(from) < 0)
        {
            _fileIndex++;
        }

        if (_fileIndex == files.Length)
        {
            return false;
        }

        ReadOnlySpan<byte> first = files[_fileIndex].FirstKey;
        ReadOnlySpan<byte> start = from.SequenceCompareTo(first) > 0 ? from : first;
        return OpenCurrent() && (CheckDamage(_current!.SeekForward(start)) || NextFile());
    }

    public bool SeekBackward(ReadOnlySpan<byte> toExclusive)
    {
        _isBackward = true;
        _fileIndex = files.Length - 1;
        while (
            _fileIndex >= 0 && !toExclusive.IsEmpty && files[_fileIndex].FirstKey.SequenceCompareTo(toExclusive) >= 0
        )
        {
            _fileIndex--;
        }

        return _fileIndex >= 0
            && OpenCurrent()
            && (CheckDamageAndStart(_current!.SeekBackward(toExclusive)) || NextFile());
    }

    public bool Move() => Check(_current!.Move()) || NextFile();

    public void Dispose()
    {
        _current?.Dispose();
        _current = null;
    }

    // Moves to the first row of the next file in the cursor's direction that has one.
    private bool NextFile()
    {
        while (Damage is null)
        {
            _fileIndex += _isBackward ? -1 : 1;
            if (_fileIndex < 0 || _fileIndex == files.Length || !OpenCurrent())
            {
                return false;
            }

            bool hasRow = _isBackward ? _current!.SeekBackward([]) : _current!.SeekForward(files[_fileIndex].FirstKey);
            if (Check(hasRow))
            {
                return true;
            }
        }

        return false;
    }

    private bool OpenCurrent()
    {
        _current?.Dispose();
        _current = null;
        RunEntry file = files[_fileIndex];
        if (!file.IsReadable)
        {
            RecordDamage(file.Damage!);
            return false;
        }

        _current = open(file.Reader);
        return true;
    }

    private bool Check(bool hasRow) => _isBackward ? CheckDamageAndStart(hasRow) : CheckDamage(hasRow);

    // Returns the argument, or false and records the damage if the current file ended with damage.
    private bool CheckDamage(bool hasRow)
    {
        if (_current!.Damage is { } damage)
        {
            RecordDamage(damage);
            return false;
        }

        return hasRow;
    }

    // Also returns false below the file's first key: a merge has moved those rows to another file.
    private bool CheckDamageAndStart(bool hasRow) =>
        CheckDamage(hasRow) && _current!.Key.SequenceCompareTo(files[_fileIndex].FirstKey) >= 0;

    private void RecordDamage(RunDamage damage)
    {
        Damage = damage.WithFile(files[_fileIndex], tables);
        _ = registry.Register(Damage, files[_fileIndex], tables);
    }
}
