using System.Globalization;
using System.Text;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Scripting.CSharp;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <summary>
/// Writes values as minimised JSON. Arrays and objects that the script did not read are copied as stored. Undefined
/// members are omitted.
/// </summary>
internal sealed class ResultWriter
{
    private readonly ScriptHeap _heap;
    private readonly ScriptLimits _limits;
    private readonly PooledBytes _written = new();

    // Whether NaN and infinities are written as null in the current member, because it is not in FiniteMembers.
    private bool _mayBeNonFinite;

    /// <summary>Makes a writer.</summary>
    /// <param name="heap">The heap of the values.</param>
    /// <param name="limits">Bounds the size of the result.</param>
    public ResultWriter(ScriptHeap heap, ScriptLimits limits)
    {
        _heap = heap;
        _limits = limits;
    }

    /// <summary>
    /// See <see cref="ScriptInterpreter.RefusesNonFinite"/>. Applies to numbers of JavaScript; those of C# are always
    /// refused.
    /// </summary>
    public bool RefusesNonFinite { get; set; }

    /// <summary>
    /// Whether dates of JavaScript are written with three digits after the second, as <c>JSON.stringify</c> does, and
    /// not with seven, as RavenDB stores them.
    /// </summary>
    public bool WritesShortDates { get; init; }

    /// <summary>See <see cref="ScriptInterpreter.FiniteMembers"/>.</summary>
    public IReadOnlySet<string>? FiniteMembers { get; set; }

    /// <summary>Writes a value. Undefined is written as null.</summary>
    /// <returns>The JSON, valid until the next call.</returns>
    /// <exception cref="ScriptFailure">The result exceeds a limit or has no JSON form.</exception>
    public ReadOnlySpan<byte> Write(ScriptValue value)
    {
        _mayBeNonFinite = false;
        _written.Clear();
        Write(value, level: 0);
        return _written.Written;
    }

    /// <summary>Clears the buffer.</summary>
    public void Clear() => _written.Clear();

    /// <summary>Releases the buffer.</summary>
    public void Release() => _written.Release();

    private void Write(ScriptValue value, int level)
    {
        switch (value.Kind)
        {
            case ValueKind.Undefined or ValueKind.Null:
                Write("null"u8);
                break;
            case ValueKind.True:
                Write("true"u8);
                break;
            case ValueKind.False:
                Write("false"u8);
                break;
            case ValueKind.StoredNumber:
                Write(_heap.Span(value));
                break;
            case ValueKind.Moment:
                WriteMoment(_heap.MomentOf(value));
                break;
            case ValueKind.Pattern:
                Write("{}"u8); // as JSON.stringify writes it
                break;
            case >= ValueKind.Whole:
                WriteCSharp(value);
                break;
            case ValueKind.Number when !double.IsFinite(value.Double):
                WriteNonFinite(value.Double, RefusesNonFinite);
                break;
            case ValueKind.Number:
                Reserve(JsonNumber.MaxBytes);
                _written.Advance(JsonNumber.Format(value.Double, _written.Reserve(JsonNumber.MaxBytes)));
                break;
            case ValueKind.Text or ValueKind.EscapedText:
                WriteText(value);
                break;
            default:
                WriteContainer(value, level);
                break;
        }
    }

    private void WriteMoment(double moment)
    {
        if (double.IsNaN(moment))
        {
            Write("null"u8);
            return;
        }

        Span<byte> room = stackalloc byte[Moment.MaxBytes];
        Write("\""u8);
        Write(room[..Moment.WriteIso(moment, WritesShortDates ? 3 : 7, room)]);
        Write("\""u8);
    }

    private void WriteNonFinite(double number, bool isRefused)
    {
        if (isRefused && !_mayBeNonFinite)
        {
            throw new ScriptFailure(
                $"a number is {number.ToString(CultureInfo.InvariantCulture)}, which JSON does not have"
            );
        }

        Write("null"u8);
    }

    /// <summary>Writes a value of C# as JSON.</summary>
    private void WriteCSharp(ScriptValue value)
    {
        Span<byte> room = stackalloc byte[CSharpDate.MaxBytes];
        switch (value.Kind)
        {
            case ValueKind.Whole:
                value.Whole.TryFormat(room, out int length, default, CultureInfo.InvariantCulture);
                Write(room[..length]);
                break;
            case ValueKind.Real when !double.IsFinite(value.Double):
                WriteNonFinite(value.Double, isRefused: true);
                break;
            case ValueKind.Real:
                // A float is written with the digits of a float, not of the double with the same value.
                double real =
                    value.Trait == ValueTrait.Single
                        ? double.Parse(
                            CSharpStrings.FormatNumber(_heap.NumeralOf(value), format: null),
                            CultureInfo.InvariantCulture
                        )
                        : value.Double;
                length = JsonNumber.Format(real, room);
                Write(room[..length]);
                Write(room[..length].IndexOfAny((byte)'.', (byte)'e') < 0 ? ".0"u8 : default);
                break;
            case ValueKind.Decimal:
                Write(_heap.Span(value));
                break;
            default:
                Write("\""u8);
                if (value.Kind == ValueKind.TimeSpan)
                {
                    TimeSpan.FromTicks(value.Whole).TryFormat(room, out length, "c", CultureInfo.InvariantCulture);
                }
                else
                {
                    length = _heap.DateOf(value).Write(room);
                }

                Write(room[..length]);
                Write("\""u8);
                break;
        }
    }

    private void WriteText(ScriptValue value)
    {
        const int MaxBytesOfEscape = 6;
        const int BytesPerPiece = 1024;
        var text = _heap.Span(value);
        if (_heap.HasLoneSurrogates && Utf16Text.IndexOfLoneSurrogate(text) >= 0)
        {
            throw new ScriptFailure(
                "the result holds a text that was cut inside a surrogate pair: half of a character cannot be stored"
            );
        }

        Write("\""u8);
        if (value.Kind == ValueKind.EscapedText || JsonText.IsPlain(text))
        {
            Write(text);
        }
        else
        {
            // Long texts are written in pieces, because in the worst case the output is six times as long.
            while (!text.IsEmpty)
            {
                var piece = text[..Math.Min(text.Length, BytesPerPiece)];
                text = text[piece.Length..];
                int length = JsonText.Escape(piece, _written.Reserve(piece.Length * MaxBytesOfEscape));
                _heap.Budget.SpendOnBytes(length);
                Reserve(length);
                _written.Advance(length);
            }
        }

        Write("\""u8);
    }

    private void WriteContainer(ScriptValue container, int level)
    {
        _heap.Budget.Spend(1);
        if (level == JsonLimits.MaxDepth)
        {
            throw new ScriptFailure($"the result is nested deeper than {JsonLimits.MaxDepth} levels");
        }

        if (_heap.Containers.IsRaw(container, out int start, out int end))
        {
            Write(_heap.Span(start, end - start));
            return;
        }

        bool isArray = container.Kind == ValueKind.Array;
        int count = _heap.Containers.Count(container);
        bool isFirst = true;
        Write(isArray ? "["u8 : "{"u8);
        for (int index = 0; index < count; index++)
        {
            _heap.Budget.Spend(1);
            var member = isArray
                ? _heap.Containers.Element(container, index)
                : _heap.Containers.Member(container, index);
            if (!isArray && member.Kind == ValueKind.Undefined)
            {
                continue;
            }

            if (!isFirst)
            {
                Write(","u8);
            }

            isFirst = false;
            if (!isArray)
            {
                WriteText(_heap.Containers.Name(container, index));
                Write(":"u8);
                if (level == 0 && FiniteMembers is { } finite)
                {
                    _mayBeNonFinite = !finite.Contains(
                        Encoding.UTF8.GetString(_heap.Span(_heap.Containers.Name(container, index)))
                    );
                }
            }

            Write(member, level + 1);
        }

        Write(isArray ? "]"u8 : "}"u8);
    }

    private void Write(ReadOnlySpan<byte> bytes)
    {
        _heap.Budget.Spend(bytes.Length / ScriptBudget.BytesPerStep);
        Reserve(bytes.Length);
        _written.Append(bytes);
    }

    private void Reserve(int more)
    {
        if ((long)_written.Length + more > _limits.OutputBytes)
        {
            throw new ScriptFailure($"the result would be larger than {Amount.Bytes(_limits.OutputBytes)}");
        }

        if (_heap.Budget.MemorySource is not null)
        {
            _heap.Budget.Require(_written.Length + more);
        }
    }
}
