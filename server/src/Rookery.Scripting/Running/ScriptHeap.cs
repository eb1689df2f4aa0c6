using System.Buffers.Binary;
using System.Globalization;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <summary>
/// The memory for the values of one run: the bytes of texts and documents, and the arrays and objects. Bounded. Reused
/// for further runs.
/// </summary>
/// <remarks>Spans of the heap become invalid when bytes are added. Keep offsets instead.</remarks>
internal sealed class ScriptHeap
{
    private const int IdleBytes = 64 * 1024;

    private readonly PooledBytes _bytes = new();

    /// <summary>Creates an empty heap.</summary>
    public ScriptHeap()
    {
        Budget = new ScriptBudget(_bytes);
        Containers = new ScriptContainers(_bytes, Budget);
    }

    /// <summary>Counts the steps and memory of the run.</summary>
    public ScriptBudget Budget { get; }

    /// <summary>The arrays and objects.</summary>
    public ScriptContainers Containers { get; }

    /// <summary>Number of bytes in use.</summary>
    public int Length => _bytes.Length;

    /// <summary>
    /// Removes all values and all bytes after the first <paramref name="keptBytes"/>, which are the program's
    /// constants.
    /// </summary>
    public void Reset(int keptBytes, int memoryBytes)
    {
        _bytes.Truncate(keptBytes);
        Containers.Clear();
        Budget.Reset(memoryBytes);
        HasLoneSurrogates = false;
    }

    /// <summary>Releases all memory.</summary>
    public void Release()
    {
        _bytes.Release();
        Containers.Release();
    }

    /// <summary>Whether the heap uses more memory than small runs need.</summary>
    public bool IsLarge => Containers.HeldBytes > IdleBytes || _bytes.Length > IdleBytes;

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
        Budget.Require(source.Length);
        _bytes.Append(source);
    }

    /// <summary>Appends one byte.</summary>
    public void Add(byte value)
    {
        Budget.Require(1);
        _bytes.Append(value);
    }

    /// <summary>Appends a copy of bytes of the heap.</summary>
    public void AddCopy(int start, int length)
    {
        Budget.SpendOnBytes(length);
        var room = Reserve(length);
        _bytes.Written.Slice(start, length).CopyTo(room);
        _bytes.Advance(length);
    }

    /// <summary>Returns a buffer after the bytes in use. Earlier spans are invalid afterwards.</summary>
    public Span<byte> Reserve(int count)
    {
        Budget.Require(count);
        return _bytes.Reserve(count);
    }

    /// <summary>Counts reserved bytes as in use.</summary>
    public void Advance(int count) => _bytes.Advance(count);

    /// <summary>Removes the bytes after a length; no value may refer to them.</summary>
    public void Truncate(int length) => _bytes.Truncate(length);

    /// <summary>
    /// Whether a text was cut inside a surrogate pair in this run. If not, no text contains half of a pair (a lone
    /// surrogate).
    /// </summary>
    public bool HasLoneSurrogates { get; private set; }

    /// <summary>
    /// Creates a text of all bytes from an offset on. If <see cref="HasLoneSurrogates"/> is set, no other text may use
    /// these bytes.
    /// </summary>
    public ScriptValue TextFrom(int start)
    {
        if (HasLoneSurrogates)
        {
            Budget.SpendOnBytes(_bytes.Length - start);
            _bytes.Truncate(start + Utf16Text.MergeHalves(_bytes.WrittenMemory.Span[start..]));
        }

        return ScriptValue.InHeap(ValueKind.Text, start, _bytes.Length - start);
    }

    /// <summary>Appends one half of the surrogate pair at an offset.</summary>
    public void AddHalf(int pair, bool isSecond)
    {
        HasLoneSurrogates = true;
        var room = Reserve(Utf16Text.HalfBytes);
        _bytes.Advance(Utf16Text.WriteHalf(_bytes.Written.Slice(pair, Utf16Text.PairBytes), isSecond, room));
    }

    /// <summary>Creates a text from bytes outside the heap.</summary>
    public ScriptValue NewText(ReadOnlySpan<byte> source)
    {
        int start = _bytes.Length;
        Add(source);
        return TextFrom(start);
    }

    /// <summary>
    /// Creates a number with all digits, as a number of a document has them. A double would have 53 bits.
    /// </summary>
    public ScriptValue NewWholeNumber(long value)
    {
        const int MaxDigits = 20;
        int start = _bytes.Length;
        value.TryFormat(Reserve(MaxDigits), out int length, default, CultureInfo.InvariantCulture);
        _bytes.Advance(length);
        return ScriptValue.InHeap(ValueKind.StoredNumber, start, length);
    }

    /// <summary>Returns the text with its escapes resolved.</summary>
    public ScriptValue Plain(ScriptValue text)
    {
        if (text.Kind == ValueKind.Text)
        {
            return text;
        }

        Budget.SpendOnBytes(text.Length);
        int start = _bytes.Length;
        var room = Reserve(text.Length);
        _bytes.Advance(JsonText.Unescape(_bytes.Written.Slice(text.Start, text.Length), room));
        return TextFrom(start);
    }

    /// <summary>Creates a date of JavaScript from its milliseconds since 1970, or NaN.</summary>
    public ScriptValue NewMoment(double milliseconds)
    {
        int start = _bytes.Length;
        BinaryPrimitives.WriteDoubleLittleEndian(Reserve(sizeof(double)), milliseconds);
        _bytes.Advance(sizeof(double));
        return ScriptValue.InHeap(ValueKind.Moment, start, sizeof(double));
    }

    /// <summary>Returns the milliseconds since 1970 of a date of JavaScript.</summary>
    public double MomentOf(ScriptValue moment) => BinaryPrimitives.ReadDoubleLittleEndian(Span(moment));

    /// <summary>Changes a date of JavaScript.</summary>
    public void SetMoment(ScriptValue moment, double milliseconds) =>
        BinaryPrimitives.WriteDoubleLittleEndian(_bytes.WrittenMemory.Span[moment.Start..], milliseconds);

    /// <summary>
    /// Returns a numeric value as a double. A stored number is parsed, and its digits counted as steps, at each call.
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

        Budget.SpendOnDigits(value.Length);
        return double.Parse(Span(value), NumberStyles.Float, CultureInfo.InvariantCulture);
    }
}
