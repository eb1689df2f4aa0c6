using System.Globalization;
using System.Runtime.CompilerServices;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <summary>
/// The values of one run: bytes of texts and documents in one place, and containers over them, which are read from
/// their JSON when something of them is asked for. Bounded, and used again.
/// </summary>
/// <remarks>Spans into the heap die with the next text that is made: take positions instead.</remarks>
internal sealed partial class ScriptHeap
{
    /// <summary>Bytes of work that count as a step.</summary>
    public const int BytesPerStep = 16;

    private const int BytesPerSlot = 16;
    private const int BytesPerContainer = 32;
    private const int IdleBytes = 64 * 1024;

    private const int FreeBytes = 64 * 1024;
    private const int BytesPerTake = 64 * 1024;

    private readonly PooledBytes _bytes = new();
    private PooledItems<ScriptValue> _slots;
    private PooledItems<Container> _containers;
    private int _slotCount;
    private int _containerCount;
    private long _stepsLeft;
    private long _stepsGiven;
    private int _memoryLimit;
    private long _takenBytes;
    private long _heldBytes;

    /// <summary>
    /// Asked for so many bytes before more than 64 KiB are held; null where the limit alone bounds a run.
    /// </summary>
    public Func<long, bool>? MemorySource { get; set; }

    /// <summary>Bytes in use.</summary>
    public int Length => _bytes.Length;

    /// <summary>Bytes that the run may take for its values.</summary>
    public int MemoryLimit => _memoryLimit;

    /// <summary>Steps that were taken.</summary>
    public long Steps => _stepsGiven - Math.Max(_stepsLeft, 0);

    /// <summary>Forgets all values but the first bytes, which are a program's constants.</summary>
    public void Reset(int keptBytes, int memoryBytes)
    {
        _bytes.Truncate(keptBytes);
        _slotCount = _containerCount = 0;
        _memoryLimit = memoryBytes;
        _stepsGiven = _stepsLeft = 0;
        _takenBytes = _heldBytes = 0;
        HasHalves = false;
    }

    /// <summary>Gives large memory back.</summary>
    public void Release()
    {
        _bytes.Release();
        _slots.Return();
        _containers.Return();
        _slotCount = _containerCount = 0;
    }

    /// <summary>Whether more memory is held than small runs need.</summary>
    public bool IsLarge => _slots.Bytes > IdleBytes || _containers.Bytes > IdleBytes || _bytes.Length > IdleBytes;

    /// <summary>Allows steps.</summary>
    public void Allow(long steps)
    {
        _stepsLeft += steps;
        _stepsGiven += steps;
    }

    /// <summary>Counts steps.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Spend(int steps)
    {
        if ((_stepsLeft -= steps) < 0)
        {
            FailForSteps();
        }
    }

    /// <summary>Counts the steps of work on bytes.</summary>
    public void SpendOnBytes(int count) => Spend(1 + (count / BytesPerStep));

    /// <summary>Counts the steps of reading a number's digits, which takes longer than copying them.</summary>
    public void SpendOnDigits(int count)
    {
        const int DigitsPerStep = 4;
        Spend(1 + (count / DigitsPerStep));
    }

    /// <summary>Bytes of the heap; valid until the next text is made.</summary>
    public ReadOnlySpan<byte> Span(int start, int length) => _bytes.Written.Slice(start, length);

    /// <summary>The bytes of a text without escapes, or of a stored number.</summary>
    public ReadOnlySpan<byte> Span(ScriptValue value) => _bytes.Written.Slice(value.Start, value.Length);

    /// <summary>All bytes, for walks over JSON.</summary>
    public ReadOnlySpan<byte> All => _bytes.Written;

    /// <summary>Adds bytes from outside of the heap.</summary>
    public void Add(ReadOnlySpan<byte> source)
    {
        Require(source.Length);
        _bytes.Append(source);
    }

    /// <summary>Adds one byte.</summary>
    public void Add(byte value)
    {
        Require(1);
        _bytes.Append(value);
    }

    /// <summary>Adds a copy of bytes of the heap.</summary>
    public void AddCopy(int start, int length)
    {
        SpendOnBytes(length);
        var room = Reserve(length);
        _bytes.Written.Slice(start, length).CopyTo(room);
        _bytes.Advance(length);
    }

    /// <summary>Room behind the bytes in use. Spans from before are dead.</summary>
    public Span<byte> Reserve(int count)
    {
        Require(count);
        return _bytes.Reserve(count);
    }

    /// <summary>Takes reserved bytes into use.</summary>
    public void Advance(int count) => _bytes.Advance(count);

    /// <summary>Forgets bytes that no value holds.</summary>
    public void Truncate(int length) => _bytes.Truncate(length);

    /// <summary>
    /// Whether a text was cut inside a surrogate pair in this run. Until then no text needs to be searched for halves.
    /// </summary>
    public bool HasHalves { get; private set; }

    /// <summary>
    /// The text of all bytes from a place on. They belong to no other text where <see cref="HasHalves"/>.
    /// </summary>
    public ScriptValue TextFrom(int start)
    {
        if (HasHalves)
        {
            SpendOnBytes(_bytes.Length - start);
            _bytes.Truncate(start + Utf16Text.MergeHalves(_bytes.WrittenMemory.Span[start..]));
        }

        return ScriptValue.InHeap(ValueKind.Text, start, _bytes.Length - start);
    }

    /// <summary>Adds one half of the pair that stands at a place.</summary>
    public void AddHalf(int pair, bool isSecond)
    {
        HasHalves = true;
        var room = Reserve(Utf16Text.HalfBytes);
        _bytes.Advance(Utf16Text.WriteHalf(_bytes.Written.Slice(pair, Utf16Text.PairBytes), isSecond, room));
    }

    /// <summary>A text from outside of the heap.</summary>
    public ScriptValue NewText(ReadOnlySpan<byte> source)
    {
        int start = _bytes.Length;
        Add(source);
        return TextFrom(start);
    }

    /// <summary>The text with its escapes resolved.</summary>
    public ScriptValue Plain(ScriptValue text)
    {
        if (text.Kind == ValueKind.Text)
        {
            return text;
        }

        SpendOnBytes(text.Length);
        int start = _bytes.Length;
        var room = Reserve(text.Length);
        _bytes.Advance(JsonText.Unescape(_bytes.Written.Slice(text.Start, text.Length), room));
        return TextFrom(start);
    }

    /// <summary>
    /// The number of a value that is one. A stored one is read each time, however many digits it has, and pays for each
    /// of them.
    /// </summary>
    public double NumberOf(ScriptValue value)
    {
        switch (value.Kind)
        {
            case ValueKind.Number or ValueKind.Real:
                return value.Double;
            case ValueKind.Whole:
                return value.Whole;
        }

        SpendOnDigits(value.Length);
        return double.Parse(Span(value), NumberStyles.Float, CultureInfo.InvariantCulture);
    }

    /// <summary>The value that stands at a place as JSON.</summary>
    /// <param name="start">Its first byte.</param>
    /// <param name="end">Behind its last one.</param>
    /// <param name="document">The document that it is, or -1.</param>
    public ScriptValue FromJson(int start, int end, int document = -1)
    {
        var json = _bytes.Written;
        switch (json[start])
        {
            case (byte)'"':
                int length = end - start - 2;
                bool isEscaped = json.Slice(start + 1, length).Contains((byte)'\\');
                var kind = isEscaped ? ValueKind.EscapedText : ValueKind.Text;
                return ScriptValue.InHeap(kind, start + 1, length).With(ValueTrait.Stored);
            case (byte)'{':
                return NewContainer(
                    ValueKind.Object,
                    new Container
                    {
                        RawStart = start,
                        RawEnd = end,
                        Document = document,
                    }
                );
            case (byte)'[':
                return NewContainer(
                    ValueKind.Array,
                    new Container
                    {
                        RawStart = start,
                        RawEnd = end,
                        Document = -1,
                    }
                );
            case (byte)'t':
                return ScriptValue.Of(true);
            case (byte)'f':
                return ScriptValue.Of(false);
            case (byte)'n':
                return ScriptValue.Null;
            default:
                return ScriptValue.InHeap(ValueKind.StoredNumber, start, end - start);
        }
    }

    /// <summary>Counts memory that work takes beside the values, until it is given back, or fails.</summary>
    public void Hold(long more)
    {
        Require(more);
        _heldBytes += more;
    }

    /// <summary>Counts held memory no more.</summary>
    public void GiveBack(long held) => _heldBytes -= held;

    /// <summary>Memory that is held now.</summary>
    public long HeldBytes => _heldBytes;

    /// <summary>Counts no more what was held since so much was.</summary>
    public void GiveBackTo(long held) => _heldBytes = held;

    /// <summary>Allows so many bytes beside what the heap holds, or fails.</summary>
    public void Require(long more)
    {
        long needed = MemoryBytes + more;
        if (needed > _memoryLimit)
        {
            throw new ScriptFailure($"the script needs more than {Amount.Bytes(_memoryLimit)} of memory");
        }

        if (MemorySource is not null && needed > FreeBytes + _takenBytes)
        {
            Take(needed - FreeBytes - _takenBytes);
        }
    }

    private void Take(long bytes)
    {
        long taken = (bytes + BytesPerTake - 1) / BytesPerTake * BytesPerTake;
        if (!MemorySource!(taken))
        {
            throw new ScriptFailure("the script needs more memory than there is now");
        }

        _takenBytes += taken;
    }

    private long MemoryBytes =>
        _bytes.Length + ((long)_slotCount * BytesPerSlot) + ((long)_containerCount * BytesPerContainer) + _heldBytes;

    private static void FailForSteps() =>
        throw new ScriptFailure("the script takes more steps than a document of this size allows");
}
