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
    private int _place;
    private bool _backward;

    public ReadOnlySpan<byte> Key => _current!.Key;

    public long Sequence => _current!.Sequence;

    public RowKind Kind => _current!.Kind;

    public ReadOnlySpan<byte> Value => _current!.Value;

    public RunDamage? Damage { get; private set; }

    public bool SeekForward(ReadOnlySpan<byte> from)
    {
        _backward = false;
        _place = 0;
        while (_place < files.Length && files[_place].LastKey.SequenceCompareTo(from) < 0)
        {
            _place++;
        }

        if (_place == files.Length)
        {
            return false;
        }

        ReadOnlySpan<byte> first = files[_place].FirstKey;
        return OpenCurrent()
            && (Check(_current!.SeekForward(from.SequenceCompareTo(first) > 0 ? from : first)) || NextFile());
    }

    public bool SeekBackward(ReadOnlySpan<byte> toExclusive)
    {
        _backward = true;
        _place = files.Length - 1;
        while (_place >= 0 && !toExclusive.IsEmpty && files[_place].FirstKey.SequenceCompareTo(toExclusive) >= 0)
        {
            _place--;
        }

        return _place >= 0 && OpenCurrent() && (CheckBackward(_current!.SeekBackward(toExclusive)) || NextFile());
    }

    public bool Move() =>
        _backward ? CheckBackward(_current!.Move()) || NextFile() : Check(_current!.Move()) || NextFile();

    public void Dispose()
    {
        _current?.Dispose();
        _current = null;
    }

    private bool NextFile()
    {
        while (Damage is null)
        {
            _place += _backward ? -1 : 1;
            if (_place < 0 || _place == files.Length || !OpenCurrent())
            {
                return false;
            }

            if (
                _backward
                    ? CheckBackward(_current!.SeekBackward([]))
                    : Check(_current!.SeekForward(files[_place].FirstKey))
            )
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
        RunEntry file = files[_place];
        if (!file.IsReadable)
        {
            Note(file.Damage!);
            return false;
        }

        _current = open(file.Reader);
        return true;
    }

    private bool Check(bool found)
    {
        if (_current!.Damage is { } damage)
        {
            Note(damage);
            return false;
        }

        return found;
    }

    // Skips rows below the file's first key in force: a merge has moved them to another file.
    private bool CheckBackward(bool found) =>
        Check(found) && _current!.Key.SequenceCompareTo(files[_place].FirstKey) >= 0;

    private void Note(RunDamage damage)
    {
        Damage = damage.Within(files[_place], tables);
        _ = registry.Note(Damage, files[_place], tables);
    }
}
