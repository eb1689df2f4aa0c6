using System.Text;
using Rookery.Shell;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>The prompt of `rookery shell`: statements, keys, drawing, completion and history.</summary>
public sealed class ShellTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("rookery-shell-").FullName;

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Theory]
    [InlineData("from A; from B;", new[] { "from A", "from B" })]
    [InlineData("from A where x = 'a;b' and y = \"c;d\";", new[] { "from A where x = 'a;b' and y = \"c;d\"" })]
    [InlineData("// one; two\nfrom A /* ; */;", new[] { "from A /* ; */" })]
    [InlineData(
        "from A update { this.a = 1; this.b = /[;}]/; };",
        new[] { "from A update { this.a = 1; this.b = /[;}]/; }" }
    )]
    [InlineData("\\d\nfrom A;", new[] { "\\d", "from A" })]
    [InlineData(";;", new string[0])]
    public void Only_a_semicolon_outside_of_texts_comments_and_scripts_ends_a_statement(string text, string[] expected)
    {
        Assert.Equal(expected, ShellText.Split(text, out _).Select(static part => part.Statement));
        Assert.True(ShellText.IsComplete(text));
    }

    [Theory]
    [InlineData("from A")]
    [InlineData("from A where x = 'a;")]
    [InlineData("from A update { this.a = 1;")]
    [InlineData("from A; from B")]
    [InlineData("from A /* ;")]
    public void A_text_with_an_open_statement_is_not_complete(string text) => Assert.False(ShellText.IsComplete(text));

    [Fact]
    public void A_script_has_the_lines_of_its_statements_and_its_last_statement_needs_no_semicolon()
    {
        var script = new ShellScript(
            new StringReader("// first\nfrom A;\n\nfrom B\nwhere x = 1; from C;\n\\d\n\nfrom D\n")
        );
        var read = new List<string>();
        while (script.Read() is { } statement)
        {
            read.Add($"{script.Line} {statement}");
        }

        Assert.Equal(["2 from A", "4 from B\nwhere x = 1", "5 from C", "6 \\d", "8 from D"], read);
    }

    [Theory]
    [InlineData("from A where x = 'open")]
    [InlineData("from A update { this.a = 1;")]
    public void An_unfinished_statement_at_the_end_of_a_script_is_not_dropped(string text) =>
        Assert.Equal(text, new ShellScript(new StringReader(text)).Read());

    [Fact]
    public void Movements_and_removals_keep_characters_whole_that_are_drawn_as_one()
    {
        var edited = new EditedText();
        edited.Insert("a👩🏽e\u0301");
        edited.MoveLeft();
        Assert.Equal("a👩🏽".Length, edited.Cursor);
        edited.RemoveBefore();
        Assert.Equal("ae\u0301", edited.Text);
        edited.RemoveAfter();
        Assert.Equal("a", edited.Text);
    }

    [Theory]
    [InlineData("a👩🏽", "a")]
    [InlineData("e\u0301", "")]
    [InlineData("😀", "")]
    [InlineData("", "")]
    public void What_is_searched_loses_its_last_character_as_a_whole(string typed, string expected) =>
        Assert.Equal(expected, EditedText.WithoutLast(typed));

    /// <summary>Formerly, half of the emoji stayed, so that nothing was found any more.</summary>
    [Fact]
    public void A_search_finds_statements_after_an_emoji_is_removed_from_it()
    {
        var history = History.Open(file: null);
        history.Add("from Birds;");
        var editor = new LineEditor(
            Keys("\u0012😀\u007fBirds\r\r"),
            history,
            static (_, at) => new Completion(at, []),
            static _ => { },
            static () => (80, 24)
        );
        Assert.Equal("from Birds;", editor.Read("> ", "- ", static _ => true));
    }

    [Theory]
    [InlineData("from 👩‍👩‍👧")]
    [InlineData("from कि")]
    public void A_word_before_the_cursor_is_cut_in_whole_characters(string typed)
    {
        var edited = new EditedText();
        edited.Insert(typed);
        edited.CutWordBefore();
        Assert.Equal("from ", edited.Text);
    }

    [Fact]
    public void A_word_after_the_cursor_is_cut_in_whole_characters()
    {
        var edited = new EditedText();
        edited.Insert("👩‍👩‍👧 y");
        edited.MoveToLineStart();
        edited.CutWordAfter();
        Assert.Equal(" y", edited.Text);
    }

    [Fact]
    public void Words_and_lines_are_cut_and_inserted_again()
    {
        var edited = new EditedText();
        edited.Insert("from Orders\nwhere Total > 1");
        edited.CutToLineStart();
        Assert.Equal("from Orders\n", edited.Text);
        edited.InsertRemoved();
        Assert.True(edited.MoveUp());
        Assert.Equal("from Orders".Length, edited.Cursor);
        edited.CutWordBefore();
        Assert.Equal("from \nwhere Total > 1", edited.Text);
        Assert.False(edited.MoveUp());
        Assert.True(edited.MoveDown());
        Assert.False(edited.MoveDown());
        edited.MoveToLineEnd();
        edited.MoveWordLeft();
        edited.CutToLineEnd();
        Assert.Equal("from \nwhere Total > ", edited.Text);
    }

    [Theory]
    [InlineData("\u001b[A", EditKey.Up)]
    [InlineData("\u001bOB", EditKey.Down)]
    [InlineData("\u001b[1;5D", EditKey.WordLeft)]
    [InlineData("\u001b[3~", EditKey.RemoveAfter)]
    [InlineData("\u001b[99;1X", EditKey.None)]
    [InlineData("\u0003", EditKey.Abandon)]
    [InlineData("\u0012", EditKey.Search)]
    [InlineData("", EditKey.End)]
    public void Keys_are_read_from_their_bytes(string bytes, object expected) =>
        Assert.Equal((EditKey)expected, Keys(bytes).Read().Key);

    [Fact]
    public void A_pasted_text_with_tabs_and_line_breaks_is_one_text()
    {
        var keys = Keys("\u001b[200~from A\r\twhere ü;\u001b[201~x");
        Assert.Equal((EditKey.Text, "from A\n\twhere ü;"), keys.Read());
        Assert.Equal((EditKey.Text, "x"), keys.Read());
    }

    /// <summary>Formerly, keys after a letter of another encoding were lost, also Ctrl+C.</summary>
    [Fact]
    public void A_key_after_bytes_that_are_not_UTF8_is_not_lost()
    {
        byte[] latin1 = [0xE4, 0x03, 0xFF, (byte)'a', 0xF0, 0x9F, (byte)'\r'];
        var bytes = new MemoryStream(latin1);
        var keys = new KeyReader(buffer => bytes.Read(buffer[..1]));
        Assert.Equal((EditKey.Text, "\ufffd"), keys.Read());
        Assert.Equal(EditKey.Abandon, keys.Read().Key);
        Assert.Equal((EditKey.Text, "\ufffd"), keys.Read());
        Assert.Equal((EditKey.Text, "a"), keys.Read());
        Assert.Equal((EditKey.Text, "\ufffd"), keys.Read());
        Assert.Equal(EditKey.Enter, keys.Read().Key);
    }

    /// <summary>Formerly, the paste did not end, so that the shell took no key any more.</summary>
    [Fact]
    public void A_pasted_text_that_ends_with_an_escape_ends()
    {
        var keys = Keys("\u001b[200~from A\u001b\u001b[201~x");
        Assert.Equal((EditKey.Text, "from A"), keys.Read());
        Assert.Equal((EditKey.Text, "x"), keys.Read());
    }

    // The reader returns one byte at a time, as on a slow line.
    private static KeyReader Keys(string text)
    {
        var bytes = new MemoryStream(Encoding.UTF8.GetBytes(text));
        return new KeyReader(buffer => bytes.Read(buffer[..1]));
    }

    [Fact]
    public void Control_and_direction_characters_are_drawn_as_escapes()
    {
        var drawn = DrawnText.Of("> ", "  ", "a\u202eb\u001b[31m", 2, 80, 24);
        Assert.Equal([@"> a\u202eb\u001b[31m"], drawn.Rows);
        Assert.Equal((0, @"> a\u202e".Length), (drawn.CursorRow, drawn.CursorColumn));
    }

    [Fact]
    public void Long_lines_break_at_the_width_and_wide_letters_take_two_cells()
    {
        var drawn = DrawnText.Of("> ", "- ", "東京東京\nab", 4, 8, 24);
        Assert.Equal(["> 東京東", "京", "- ab"], drawn.Rows);
        Assert.Equal((1, 2), (drawn.CursorRow, drawn.CursorColumn));
    }

    [Fact]
    public void A_cursor_after_a_full_row_is_at_the_beginning_of_the_next()
    {
        var drawn = DrawnText.Of("> ", "- ", "abcdef", 6, 8, 24);
        Assert.Equal((1, 0), (drawn.CursorRow, drawn.CursorColumn));
        Assert.Equal(["> abcdef", ""], drawn.Rows);
    }

    [Fact]
    public void Of_a_text_higher_than_the_terminal_the_rows_at_the_cursor_are_drawn()
    {
        string text = string.Join('\n', Enumerable.Range(0, 50));
        Assert.Equal("- 49", DrawnText.Of("> ", "- ", text, text.Length, 80, 10).Rows[^1]);
        Assert.Equal("> 0", DrawnText.Of("> ", "- ", text, 0, 80, 10).Rows[0]);
    }

    [Theory]
    [InlineData("", "from|delete from|declare function")]
    [InlineData("from ", "Orders|'Old things'|@all_docs|index")]
    [InlineData("from or", "Orders")]
    [InlineData("from 'O", "Orders|'Old things'")]
    [InlineData("from index ", "'Orders/ByTotal'")]
    [InlineData("from index 'Ord", "'Orders/ByTotal'")]
    [InlineData("from Orders wh", "where")]
    [InlineData("from Orders where To", "Total")]
    [InlineData("from Orders as o where o.To", "o.Total")]
    [InlineData("from Orders where Lines[].Pr", "Lines[].Product")]
    [InlineData("from Orders where start", "startsWith(")]
    [InlineData("from A; from or", "Orders")]
    [InlineData("delete from or", "Orders")]
    [InlineData("from Orders where Name = 'To", "")]
    [InlineData("from Orders update { this.To", "")]
    [InlineData("from Orders // To", "")]
    [InlineData("\\ti", "\\timing")]
    [InlineData("\\c sh", "shop")]
    [InlineData("\\d Ord", "Orders|Orders/ByTotal")]
    public void Names_and_words_complete_where_they_can_stand(string typed, string expected)
    {
        var found = RqlCompletion.Of(typed, typed.Length, new Known());
        Assert.Equal(expected, string.Join('|', found.Candidates));
    }

    [Fact]
    public void A_completion_replaces_what_is_typed_of_the_word()
    {
        var found = RqlCompletion.Of("from Orders where to", 20, new Known());
        Assert.Equal(18, found.From);
        Assert.Equal("Total", found.CommonBeginning);
    }

    [Fact]
    public void A_common_beginning_ends_with_a_whole_character() =>
        Assert.Equal("a", new Completion(0, ["a😀", "a😁"]).CommonBeginning);

    [Fact]
    public void The_history_is_kept_for_its_owner_only_with_at_most_a_thousand_statements()
    {
        string file = Path.Join(_directory, "state", "shell-history");
        var history = History.Open(file);
        for (int number = 0; number < History.MaxEntries + 5; number++)
        {
            history.Add($"from A\nwhere x = '\\{number}';");
        }

        history.Add($"from A\nwhere x = '\\{History.MaxEntries + 4}';"); // a repetition
        history.Add(" from Secret;"); // begins with a blank
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, new FileInfo(file).UnixFileMode);

        var read = History.Open(file);
        Assert.Equal(history.Entries, read.Entries);
        Assert.Equal(History.MaxEntries, read.Entries.Count);
        Assert.Equal(@"from A" + "\n" + @"where x = '\5';", read.Entries[0]);
        Assert.Equal(History.MaxEntries, File.ReadLines(file).Count());
        Assert.Null(read.Problem);
    }

    [Fact]
    public void A_history_that_cannot_be_stored_lasts_until_the_shell_ends()
    {
        string file = Path.Join(_directory, "file");
        File.WriteAllText(file, string.Empty);
        var history = History.Open(Path.Join(file, "shell-history"));
        history.Add("from A;");
        Assert.Equal(["from A;"], history.Entries);
        Assert.StartsWith("The history is not stored: ", history.Problem, StringComparison.Ordinal);
    }

    private sealed class Known : IKnownNames
    {
        public IReadOnlyList<string> Databases => ["shop", "birds"];

        public IReadOnlyList<string> Collections => ["Orders", "Old things"];

        public IReadOnlyList<string> Indexes => ["Orders/ByTotal"];

        public IReadOnlyList<string> Fields(string source) =>
            source is "Orders" ? ["Total", "Lines", "Lines[].Product"] : [];
    }
}
