using System.Text;

namespace Rookery.Transfer;

/// <summary>
/// Reads the records of a CSV text (RFC 4180). Quoted fields may contain the separator, line breaks and doubled quotes;
/// lines end with CRLF or LF.
/// </summary>
/// <param name="text">The text.</param>
/// <param name="separator">The character between fields.</param>
internal sealed class CsvReader(TextReader text, char separator)
{
    // More than any document has. Without a bound, an unclosed quote would make one field of the rest of the file.
    private const int MaxRecordCharacters = 16 << 20;

    private readonly StringBuilder _field = new();
    private long _line = 1;
    private int _recordLength;

    /// <summary>The line in which the last read record begins, from 1.</summary>
    public long Line { get; private set; }

    /// <summary>Reads a record; blank lines are skipped.</summary>
    /// <param name="fields">Its fields, in order.</param>
    /// <returns>False at the end.</returns>
    /// <exception cref="BadInputException">A quote is not closed, text follows a closing quote, or the input is
    /// damaged.</exception>
    public bool TryRead(List<string> fields)
    {
        try
        {
            return TryReadRecord(fields);
        }
        catch (Exception damaged) when (damaged is InvalidDataException or IOException)
        {
            throw new BadInputException(
                $"The table cannot be read from line {Line} on: {BadInputException.ReasonOf(damaged)}"
            );
        }
    }

    private bool TryReadRecord(List<string> fields)
    {
        while (true)
        {
            fields.Clear();
            Line = _line;
            _recordLength = 0;
            if (text.Peek() < 0)
            {
                return false;
            }

            while (ReadField(fields))
            {
                // Continues while a separator follows.
            }

            if (fields is not [""])
            {
                return true;
            }
        }
    }

    /// <summary>Reads a field and the separator or line end after it.</summary>
    /// <returns>Whether the record has another field.</returns>
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
                CountCharacter();
                fields.Add(_field.ToString());
                _line += letter == '\n' ? 1 : 0;
                return letter == separator;
            }

            if (isQuoted)
            {
                throw new BadInputException(
                    $"In line {_line} \"{(char)letter}\" follows a closing quote; only a separator or the end of the "
                        + $"line may. Write a quote within a field twice."
                );
            }

            Append(letter);
        }
    }

    private void Append(int letter)
    {
        CountCharacter();
        _field.Append((char)letter);
    }

    private void CountCharacter()
    {
        _recordLength++;
        if (_recordLength > MaxRecordCharacters)
        {
            throw new BadInputException(
                $"The record of line {Line} is longer than {MaxRecordCharacters >> 20} Mi characters, so it is not "
                    + "a document. Check whether a quote is not closed there."
            );
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
            Append(letter);
        }
    }
}
