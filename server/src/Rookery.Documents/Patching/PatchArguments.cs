using System.Text;
using Rookery.Json;

namespace Rookery.Documents.Patching;

/// <summary>The <c>Values</c> of a patch request: minified JSON by name.</summary>
internal sealed class PatchArguments
{
    private readonly Dictionary<string, byte[]> _values = new(StringComparer.Ordinal);

    /// <summary>Reads the object or null at the scanner's next token.</summary>
    public bool TryRead(scoped ref JsonScanner scanner)
    {
        _values.Clear();
        if (scanner.Peek() == (byte)'n')
        {
            return scanner.TryTakeLiteral("null"u8);
        }

        if (!scanner.TryOpenObject())
        {
            return false;
        }

        bool first = true;
        while (scanner.TryNextMember(ref first, out JsonSlice name))
        {
            scanner.Peek();
            int start = scanner.Position;
            if (!scanner.TrySkipValue(JsonLimits.MaxDepth))
            {
                return false;
            }

            byte[] value = scanner.Json[start..scanner.Position].ToArray();
            _values.Add(Encoding.UTF8.GetString(scanner.Text(name)), value[..JsonText.Minimise(value, value)]);
        }

        return scanner.Error == InputErrorCode.None;
    }

    /// <summary>Finds the value of a name.</summary>
    public bool TryGet(ReadOnlySpan<byte> name, out ReadOnlySpan<byte> json)
    {
        bool exists = _values.TryGetValue(Encoding.UTF8.GetString(name), out byte[]? value);
        json = value;
        return exists;
    }
}
