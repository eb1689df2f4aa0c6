using System.Globalization;
using System.Runtime.CompilerServices;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <summary>
/// The values of one run: bytes of texts and documents, and containers over them, which are read from their JSON on
/// first access. Bounded and reusable.
/// </summary>
/// <remarks>Spans of the heap become invalid when bytes are added: keep offsets instead.</remarks>
internal sealed partial class ScriptHeap
{
    /// <summary>Number of bytes whose processing counts as a step.</summary>
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
    /// Reserves a number of bytes before more than 64 KiB are held; returns false to refuse. Null to apply only the
    /// limit of a run.
    /// </summary>
    public Func<long, bool>? MemorySource { get; set; }

    /// <summary>Number of bytes in use.</summary>
    public int Length => _bytes.Length;

    /// <summary>The most bytes that the values of the run may take.</summary>
    public int MemoryLimit => _memoryLimit;

    /// <summary>Number of steps taken.</summary>
    public long Steps => _stepsGiven - Math.Max(_stepsLeft, 0);

    /// <summary>Removes all values and bytes after the first ones, which are a program's constants.</summary>
    public void Reset(int keptBytes, int memoryBytes)
    {
        _bytes.Truncate(keptBytes);
        _slotCount = _containerCount = 0;
        _memoryLimit = memoryBytes;
        _stepsGiven = _stepsLeft = 0;
        _takenBytes = _heldBytes = 0;
        HasHalves = false;
    }

    /// <summary>Releases all memory.</summary>
    public void Release()
    {
        _bytes.Release();
        _slots.Return();
        _containers.Return();
        _slotCount = _containerCount = 0;
    }

    /// <summary>Whether the heap holds more memory than small runs need.</summary>
    public bool IsLarge => _slots.Bytes > IdleBytes || _containers.Bytes > IdleBytes || _bytes.Length > IdleBytes;

    /// <summary>Allows a number of steps.</summary>
    public void Allow(long steps)
    {
        _stepsLeft += steps;
        _stepsGiven += steps;
    }

    /// <summary>Charges steps; fails when none are left.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Spend(int steps)
    {
        if ((_stepsLeft -= steps) < 0)
        {
            FailForSteps();
        }
    }

    /// <summary>Charges the steps for processing bytes.</summary>
    public void SpendOnBytes(int count) => Spend(1 + (count / BytesPerStep));

    /// <summary>Charges the steps for reading a number's digits, which takes longer than copying them.</summary>
    public void SpendOnDigits(int count)
    {
        const int DigitsPerStep = 4;
        Spend(1 + (count / DigitsPerStep));
    }

    /// <summary>Returns bytes of the heap; valid until bytes are added.</summary>
    public ReadOnlySpan<byte> Span(int start, int length) => _bytes.Written.Slice(start, length);

    /// <summary>
    /// Returns the bytes of a text without escapes, or of a stored number; valid until bytes are added.
    /// </summary>
    public ReadOnlySpan<byte> Span(ScriptValue value) => _bytes.Written.Slice(value.Start, value.Length);

    /// <summary>All bytes in use, for scanning JSON; valid until bytes are added.</summary>
    public ReadOnlySpan<byte> All => _bytes.Written;

    /// <summary>Appends bytes from outside the heap.</summary>
    public void Add(ReadOnlySpan<byte> source)
    {
        Require(source.Length);
        _bytes.Append(source);
    }

    /// <summary>Appends one byte.</summary>
    public void Add(byte value)
    {
        Require(1);
        _bytes.Append(value);
    }

    /// <summary>Appends a copy of bytes of the heap.</summary>
    public void AddCopy(int start, int length)
    {
        SpendOnBytes(length);
        var room = Reserve(length);
        _bytes.Written.Slice(start, length).CopyTo(room);
        _bytes.Advance(length);
    }

    /// <summary>Returns room after the bytes in use. Earlier spans are invalid afterwards.</summary>
    public Span<byte> Reserve(int count)
    {
        Require(count);
        return _bytes.Reserve(count);
    }

    /// <summary>Counts reserved bytes as in use.</summary>
    public void Advance(int count) => _bytes.Advance(count);

    /// <summary>Removes the bytes after a length; no value may refer to them.</summary>
    public void Truncate(int length) => _bytes.Truncate(length);

    /// <summary>
    /// Whether a text was cut inside a surrogate pair in this run. As long as none was, texts need not be searched for
    /// halves.
    /// </summary>
    public bool HasHalves { get; private set; }

    /// <summary>
    /// Makes a text of all bytes from an offset on. If <see cref="HasHalves"/>, they must not belong to another text.
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

    /// <summary>Appends one half of the surrogate pair at an offset.</summary>
    public void AddHalf(int pair, bool isSecond)
    {
        HasHalves = true;
        var room = Reserve(Utf16Text.HalfBytes);
        _bytes.Advance(Utf16Text.WriteHalf(_bytes.Written.Slice(pair, Utf16Text.PairBytes), isSecond, room));
    }

    /// <summary>Makes a text of bytes from outside the heap.</summary>
    public ScriptValue NewText(ReadOnlySpan<byte> source)
    {
        int start = _bytes.Length;
        Add(source);
        return TextFrom(start);
    }

    /// <summary>Returns the text with its escapes resolved.</summary>
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
    /// Returns the double of a numeric value. A stored number is parsed, and its digits charged, at each call.
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

    /// <summary>Makes a value of the JSON in a range of bytes.</summary>
    /// <param name="start">The offset of its first byte.</param>
    /// <param name="end">The offset after its last byte.</param>
    /// <param name="document">The number of the document that the value is, or -1.</param>
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

    /// <summary>
    /// Charges memory that work takes beside the values, until it is released; fails beyond the limit.
    /// </summary>
    public void Hold(long more)
    {
        Require(more);
        _heldBytes += more;
    }

    /// <summary>Releases charged memory.</summary>
    public void GiveBack(long held) => _heldBytes -= held;

    /// <summary>The memory charged by <see cref="Hold"/>, in bytes.</summary>
    public long HeldBytes => _heldBytes;

    /// <summary>Releases memory charged since <see cref="HeldBytes"/> had this value.</summary>
    public void GiveBackTo(long held) => _heldBytes = held;

    /// <summary>Reserves bytes beyond those in use; fails beyond the limit.</summary>
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
