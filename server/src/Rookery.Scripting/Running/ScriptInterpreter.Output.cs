using System.Globalization;
using System.Text;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <content>What a run yields, as minimised JSON: what nobody asked for as it was stored, undefined members left
/// out.</content>
public sealed partial class ScriptInterpreter
{
    // Whether the member that is written is none of FiniteMembers.
    private bool _mayBeNonFinite;

    /// <summary>Whether the result is something: not null and not undefined.</summary>
    public bool HasResult => !_result.IsNothing;

    /// <summary>Whether the result is an array: a fan-out.</summary>
    public bool IsResultArray => _result.Kind == ValueKind.Array;

    /// <summary>Whether the result is an object.</summary>
    public bool IsResultObject => _result.Kind == ValueKind.Object;

    /// <summary>Elements of a result that is an array.</summary>
    public int ResultCount => _heap.Count(_result);

    /// <summary>Writes the result; undefined is null.</summary>
    /// <param name="json">The JSON, valid until the next call.</param>
    /// <returns>False when it went over the limits: see <see cref="Failure"/>.</returns>
    public bool TryWriteResult(out ReadOnlySpan<byte> json) => TryWrite(_result, out json);

    /// <summary>Writes an element of a result that is an array.</summary>
    /// <param name="index">Which one.</param>
    /// <param name="json">The JSON, valid until the next call; empty for null and undefined.</param>
    /// <returns>False when it went over the limits: see <see cref="Failure"/>.</returns>
    public bool TryWriteElement(int index, out ReadOnlySpan<byte> json)
    {
        json = default;
        var element = _heap.Element(_result, index);
        return element.IsNothing || TryWrite(element, out json);
    }

    /// <summary>Writes a parameter as the script left it.</summary>
    internal bool TryWriteParameter(int index, out ReadOnlySpan<byte> json) => TryWrite(_parameters[index], out json);

    private bool TryWrite(ScriptValue value, out ReadOnlySpan<byte> json)
    {
        _mayBeNonFinite = false;
        _output.Clear();
        try
        {
            Write(value, 0);
            json = _output.Written;
            return true;
        }
        catch (ScriptFailure failure)
        {
            Failure = failure.Message;
            json = default;
            return false;
        }
    }

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
            case >= ValueKind.Whole:
                WriteCSharp(value);
                break;
            case ValueKind.Number when !double.IsFinite(value.Double):
                WriteNonFinite(value.Double, RefusesNonFinite);
                break;
            case ValueKind.Number:
                Reserve(JsonNumber.MostBytes);
                _output.Advance(JsonNumber.Format(value.Double, _output.Reserve(JsonNumber.MostBytes)));
                break;
            case ValueKind.Text or ValueKind.EscapedText:
                WriteText(value);
                break;
            default:
                WriteContainer(value, level);
                break;
        }
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

    private void WriteText(ScriptValue value)
    {
        const int MostBytesOfEscape = 6;
        const int BytesPerPiece = 1024;
        var text = _heap.Span(value);
        if (_heap.HasHalves && Utf16Text.IndexOfHalf(text) >= 0)
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
            // In pieces: room for the worst of a whole text would be six times its length.
            while (!text.IsEmpty)
            {
                var piece = text[..Math.Min(text.Length, BytesPerPiece)];
                text = text[piece.Length..];
                int length = JsonText.Escape(piece, _output.Reserve(piece.Length * MostBytesOfEscape));
                _heap.SpendOnBytes(length);
                Reserve(length);
                _output.Advance(length);
            }
        }

        Write("\""u8);
    }

    private void WriteContainer(ScriptValue container, int level)
    {
        _heap.Spend(1);
        if (level == JsonLimits.MaxDepth)
        {
            throw new ScriptFailure($"the result is nested deeper than {JsonLimits.MaxDepth} levels");
        }

        if (_heap.IsRaw(container, out int start, out int end))
        {
            Write(_heap.Span(start, end - start));
            return;
        }

        bool isArray = container.Kind == ValueKind.Array;
        int count = _heap.Count(container);
        bool isFirst = true;
        Write(isArray ? "["u8 : "{"u8);
        for (int index = 0; index < count; index++)
        {
            _heap.Spend(1);
            var member = isArray ? _heap.Element(container, index) : _heap.Member(container, index);
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
                WriteText(_heap.Name(container, index));
                Write(":"u8);
                if (level == 0 && FiniteMembers is { } finite)
                {
                    _mayBeNonFinite = !finite.Contains(
                        Encoding.UTF8.GetString(_heap.Span(_heap.Name(container, index)))
                    );
                }
            }

            Write(member, level + 1);
        }

        Write(isArray ? "]"u8 : "}"u8);
    }

    private void Write(ReadOnlySpan<byte> bytes)
    {
        _heap.Spend(bytes.Length / BytesPerStep);
        Reserve(bytes.Length);
        _output.Append(bytes);
    }

    private void Reserve(int more)
    {
        if ((long)_output.Length + more > _limits.OutputBytes)
        {
            throw new ScriptFailure($"the result would be larger than {Amount.Bytes(_limits.OutputBytes)}");
        }

        if (MemorySource is not null)
        {
            _heap.Require(_output.Length + more);
        }
    }
}
