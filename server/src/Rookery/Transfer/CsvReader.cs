using System.Text;

namespace Rookery.Transfer;

/// <summary>
/// Reads records of RFC 4180: fields in quotes may hold the separator, line breaks and doubled quotes; lines end with
/// CRLF or LF.
/// </summary>
/// <param name="text">The text.</param>
/// <param name="separator">What stands between fields.</param>
internal sealed class CsvReader(TextReader text, char separator)
{
    private readonly StringBuilder _field = new();
    private long _line = 1;

    /// <summary>The line in which the record that was read last begins, from 1.</summary>
    public long Line { get; private set; }

    /// <summary>Reads a record; blank lines are passed over.</summary>
    /// <param name="fields">Its fields, in order.</param>
    /// <returns>False at the end.</returns>
    /// <exception cref="BadInputException">A quote is not closed, or something follows it.</exception>
    public bool TryRead(List<string> fields)
    {
        while (true)
        {
            fields.Clear();
            Line = _line;
            if (text.Peek() < 0)
            {
                return false;
            }

            while (ReadField(fields))
            {
                // As long as a separator follows.
            }

            if (fields is not [""])
            {
                return true;
            }
        }
    }

    /// <summary>Reads a field with what ends it.</summary>
    /// <returns>Whether another follows in the record.</returns>
    private bool ReadField(List<string> fields)
    {
        _field.Clear();
        bool isQuoted = text.Peek() == '"';
        if (isQuoted)
        {
            _ = text.Read();
            ReadQuoted();
        }

        while (true)
        {
            int letter = text.Read();
            if (letter == '\r' && text.Peek() == '\n')
            {
                letter = text.Read();
            }

            if (letter == separator || letter is '\n' or < 0)
            {
                fields.Add(_field.ToString());
                _line += letter == '\n' ? 1 : 0;
                return letter == separator;
            }

            if (isQuoted)
            {
                throw new BadInputException(
                    $"In line {_line} \"{(char)letter}\" follows a closing quote, where a separator or the "
                        + $"line's end must. A quote within a field is written twice."
                );
            }

            _field.Append((char)letter);
        }
    }

    private void ReadQuoted()
    {
        while (true)
        {
            int letter = text.Read();
            if (letter < 0)
            {
                throw new BadInputException(
                    $"The quote that opens in the record of line {Line} is not closed before the end."
                );
            }

            if (letter == '"')
            {
                if (text.Peek() != '"')
                {
                    return;
                }

                _ = text.Read();
            }

            _line += letter == '\n' ? 1 : 0;
            _field.Append((char)letter);
        }
    }
}
