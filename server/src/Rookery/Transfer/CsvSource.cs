using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Rookery.Hosting.Logging;

namespace Rookery.Transfer;

/// <summary>How the rows of a CSV table become documents.</summary>
/// <param name="Collection">The collection of the documents.</param>
/// <param name="IdColumn">The column with the ids; null to generate ids.</param>
/// <param name="Infers">Whether numbers, true, false and empty fields become JSON numbers, booleans and null; otherwise
/// all values are strings.</param>
/// <param name="Separator">The character between fields.</param>
internal sealed record CsvOptions(string Collection, string? IdColumn, bool Infers, char Separator);

/// <summary>Reads a CSV table with a heading. Each row becomes a document, and each column a member of it.</summary>
internal sealed class CsvSource : IRecordSource
{
    // Stands for an invalid byte. Unlike the usual U+FFFD, a noncharacter occurs in no exchanged text.
    private const char Undecodable = '\uFDD0';

    // A longer field becomes a string even if it looks like a number.
    private const int LongestNumber = 32;

    private static readonly JsonWriterOptions Writing = new()
    {
        Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    private readonly CsvReader _reader;
    private readonly CsvOptions _options;
    private readonly string[] _names;
    private readonly int _idColumn;
    private readonly List<string> _fields = [];
    private readonly ArrayBufferWriter<byte> _json = new();

    /// <summary>Reads the heading.</summary>
    /// <exception cref="BadInputException">There is no heading, or it lacks the column of ids.</exception>
    public CsvSource(TextReader text, CsvOptions options)
    {
        _options = options;
        _reader = new CsvReader(text, options.Separator);
        if (!_reader.TryRead(_fields))
        {
            throw new BadInputException("The input is empty: a table begins with a line that names its columns.");
        }

        if (HasUndecodable())
        {
            throw new BadInputException("The heading in line 1 is not valid UTF-8. Save the table as UTF-8.");
        }

        if (_fields is [var only] && FindOtherSeparator(only) is { } other)
        {
            string separator = other == '\t' ? "tab" : $"'{other}'";
            throw new BadInputException(
                $"The heading of the table has one column, \"{VisibleText.OfLine(only)}\", so the separator is another "
                    + $"character. Pass --separator {separator}."
            );
        }

        _names = [.. _fields.Select(static name => name.Trim())];
        int nameless = Array.FindIndex(_names, static name => name.Length == 0);
        if (nameless >= 0)
        {
            throw new BadInputException($"Column {nameless + 1} has no name in the table's heading. Give it one.");
        }

        if (
            _names.Distinct(StringComparer.Ordinal).Count() < _names.Length
            || _names.Contains("@metadata", StringComparer.Ordinal)
        )
        {
            throw new BadInputException(
                "The table's heading has a column name twice, or the name @metadata. Rename the column."
            );
        }

        _idColumn = options.IdColumn is null ? -1 : Array.IndexOf(_names, options.IdColumn);
        if (options.IdColumn is not null && _idColumn < 0)
        {
            throw new BadInputException(
                $"The table has no column \"{options.IdColumn}\" for --id-column. Its columns: "
                    + $"{string.Join(", ", _names)}."
            );
        }
    }

    public string PlaceName => "line";

    /// <summary>
    /// Opens the text of a table in UTF-8, or in the encoding of its byte order mark. Invalid bytes become a marker, so
    /// that their row is refused instead of silently changed.
    /// </summary>
    public static StreamReader TextOf(Stream bytes) =>
        new(
            bytes,
            Encoding.GetEncoding(
                "utf-8",
                EncoderFallback.ReplacementFallback,
                new DecoderReplacementFallback(Undecodable.ToString())
            )
        );

    public bool TryRead(out ImportRecord record)
    {
        record = default;
        if (!_reader.TryRead(_fields))
        {
            return false;
        }

        if (HasUndecodable())
        {
            record = new ImportRecord(
                Json: default,
                _reader.Line,
                "The row is not valid UTF-8. Save the table as UTF-8."
            );
            return true;
        }

        if (_fields.Count != _names.Length)
        {
            string fields = _fields.Count == 1 ? "field" : "fields";
            record = new ImportRecord(
                Json: default,
                _reader.Line,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"The row has {_fields.Count} {fields}, but the heading has {_names.Length}."
                )
            );
            return true;
        }

        _json.ResetWrittenCount();
        using (var json = new Utf8JsonWriter(_json, Writing))
        {
            json.WriteStartObject();
            for (int column = 0; column < _names.Length; column++)
            {
                if (column != _idColumn)
                {
                    json.WritePropertyName(_names[column]);
                    WriteValue(json, _fields[column]);
                }
            }

            json.WriteStartObject("@metadata"u8);
            json.WriteString("@collection"u8, _options.Collection);
            if (_idColumn >= 0 && _fields[_idColumn].Length > 0)
            {
                json.WriteString("@id"u8, _fields[_idColumn]);
            }

            json.WriteEndObject();
            json.WriteEndObject();
        }

        record = new ImportRecord(_json.WrittenMemory, _reader.Line);
        return true;
    }

    /// <summary>
    /// Returns the first usual separator in a field; null if there is none, or if it is the chosen one.
    /// </summary>
    private char? FindOtherSeparator(string field)
    {
        int position = field.IndexOfAny([',', ';', '\t']);
        return position < 0 || field[position] == _options.Separator ? null : field[position];
    }

    private bool HasUndecodable() => _fields.Exists(static field => field.Contains(Undecodable));

    private void WriteValue(Utf8JsonWriter json, string text)
    {
        if (!_options.Infers)
        {
            json.WriteStringValue(text);
            return;
        }

        switch (text)
        {
            case "":
                json.WriteNullValue();
                break;
            // The spellings of JSON, Python and spreadsheets.
            case "true" or "True" or "TRUE":
                json.WriteBooleanValue(true);
                break;
            case "false" or "False" or "FALSE":
                json.WriteBooleanValue(false);
                break;
            default:
                if (IsNumber(text))
                {
                    json.WriteRawValue(text);
                }
                else
                {
                    json.WriteStringValue(text);
                }

                break;
        }
    }

    /// <summary>
    /// Returns whether a text is a JSON number. A text with a leading zero is none: it may be a postcode or a telephone
    /// number.
    /// </summary>
    private static bool IsNumber(string text)
    {
        if (text.Length > LongestNumber || (!char.IsAsciiDigit(text[0]) && text[0] != '-'))
        {
            return false;
        }

        try
        {
            var reader = new Utf8JsonReader(Encoding.UTF8.GetBytes(text));
            return reader.Read() && reader.TokenType == JsonTokenType.Number && !reader.Read();
        }
        catch (JsonException)
        {
            return false;
        }
    }
}
