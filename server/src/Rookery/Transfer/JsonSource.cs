using System.Text.Json;

namespace Rookery.Transfer;

/// <summary>
/// Reads JSON documents that may span lines, in an array or one after the other. The node validates each.
/// </summary>
/// <param name="bytes">The input.</param>
internal sealed class JsonSource(ByteSource bytes) : IRecordSource
{
    private readonly JsonElements _json = new(bytes);
    private readonly OneLine _line = new();
    private bool _hasBegun;
    private bool _isInArray;
    private bool _isAfterElement;
    private long _documents;

    public string PlaceName => "document";

    /// <summary>
    /// Returns whether an input has this format. Otherwise it has lines of JSON. An input has this format if it begins
    /// with an array, or if its first value is not alone on its line. Consumes nothing.
    /// </summary>
    public static bool Recognizes(ByteSource bytes)
    {
        bool isEnd = false;
        while (true)
        {
            if (IsJsonDocuments(bytes.Window.Span, isEnd) is { } isJson)
            {
                return isJson;
            }

            if (bytes.Window.Length == ByteSource.MaxBytes)
            {
                // No document is as large, so it is a line to refuse, and the next lines are imported.
                return false;
            }

            isEnd = !bytes.Fill();
        }
    }

    public bool TryRead(out ImportRecord record)
    {
        record = default;
        Begin();
        if (_isAfterElement)
        {
            // The comma is read here and not with the element before it, which is stored even if something else
            // follows.
            _isAfterElement = false;
            _isInArray = _json.TakeCommaOr(']');
        }

        while (!_isInArray && _json.TryPeek(out byte first))
        {
            if (first != '[')
            {
                record = ReadRecord();
                return true;
            }

            _json.Take('[');
            _isInArray = _json.Peek() != ']';
            if (!_isInArray)
            {
                _json.Take(']');
            }
        }

        if (!_isInArray)
        {
            return false;
        }

        record = ReadRecord();
        _isAfterElement = true;
        return true;
    }

    /// <summary>
    /// Recognizes the format by the beginning of the input; returns null if more input is needed to decide.
    /// </summary>
    /// <param name="input">The beginning of the input.</param>
    /// <param name="isEnd">Whether <paramref name="input"/> is the whole input.</param>
    private static bool? IsJsonDocuments(ReadOnlySpan<byte> input, bool isEnd)
    {
        bool mayHaveMark =
            input.Length < NdjsonSource.ByteOrderMark.Length && NdjsonSource.ByteOrderMark.StartsWith(input);
        input = input.StartsWith(NdjsonSource.ByteOrderMark) ? input[NdjsonSource.ByteOrderMark.Length..] : input;
        input = input.TrimStart(" \t\r\n"u8);
        if (mayHaveMark || input.IsEmpty)
        {
            return isEnd ? false : null;
        }

        if (input[0] != '{')
        {
            return input[0] == '[';
        }

        try
        {
            var reader = new Utf8JsonReader(input, isFinalBlock: false, new JsonReaderState(JsonElements.Reading));
            if (!reader.Read() || !reader.TrySkip())
            {
                return isEnd ? false : null;
            }

            var value = input[..(int)reader.BytesConsumed];
            var after = input[value.Length..].TrimStart(" \t\r"u8);
            if (value.Contains((byte)'\n'))
            {
                return true;
            }

            if (!after.IsEmpty)
            {
                return after[0] != '\n';
            }

            return isEnd ? false : null;
        }
        catch (JsonException)
        {
            // The input has lines of JSON, and the first one is invalid.
            return false;
        }
    }

    private void Begin()
    {
        if (!_hasBegun)
        {
            _hasBegun = true;
            _json.SkipByteOrderMark();
        }
    }

    private ImportRecord ReadRecord()
    {
        _documents++;
        return new ImportRecord(_line.Of(_json.TakeValue().Span), _documents);
    }
}
