using System.Globalization;
using System.Text;
using System.Text.Json;

namespace Rookery.Benchmarks;

/// <summary>
/// Creates documents from the names of npm's packages. <c>words</c> is the name with a space for each character that is
/// neither letter nor digit, so that all full-text searches see the same words.
/// </summary>
internal static class PackageDocuments
{
    /// <summary>Writes every <paramref name="every"/>th document to <paramref name="target"/>.</summary>
    public static int Write(string package, string target, int every)
    {
        using var documents = new DocumentFiles(target);
        using var names = JsonDocument.Parse(File.ReadAllBytes(Path.Combine(package, "names.json")));
        int number = 0;
        foreach (var element in names.RootElement.EnumerateArray())
        {
            if (number++ % every == 0)
            {
                string name = element.GetString()!;
                documents.Add(
                    string.Create(CultureInfo.InvariantCulture, $"packages/{number}"),
                    "Packages",
                    writer =>
                    {
                        writer.WriteString("name", name);
                        writer.WriteString("words", WordsOf(name));
                    }
                );
            }
        }

        return 0;
    }

    private static string WordsOf(string name)
    {
        var words = new StringBuilder(name);
        for (int i = 0; i < words.Length; i++)
        {
            words[i] = char.IsLetterOrDigit(words[i]) ? words[i] : ' ';
        }

        return words.ToString();
    }
}
