namespace Rookery.Histories;

/// <summary>
/// Finds cycles among transactions that read and append to lists (Kingsbury and Alvaro, "Elle", 2020). A list shows the
/// order of its writers, so every dependency between transactions is known. If dependencies and real time form a cycle,
/// no order explains the history. The time is linear in the history, except for sorting it by time.
/// </summary>
public static class ListAppends
{
    /// <summary>Returns the first contradiction found; null when there is none.</summary>
    public static string? FindViolation(IEnumerable<Operation> history)
    {
        List<Operation> transactions =
        [
            .. history.Where(operation =>
                operation.Kind == OperationKind.Transaction
                && (operation.Outcome != Outcome.Unknown || operation.Writes)
            ),
        ];
        Dictionary<(string Key, long Element), int> appenders = [];
        for (int number = 0; number < transactions.Count; number++)
        {
            foreach (var append in transactions[number].Appends)
            {
                if (!appenders.TryAdd((append.Key, append.Element), number))
                {
                    return $"{append.Element} is appended twice to {append.Key}: such a history cannot be checked";
                }
            }
        }

        var lists = FindLongestLists(transactions);
        return FindWrongRead(transactions, lists, appenders) ?? FindCycle(transactions, lists, appenders);
    }

    /// <summary>Returns the longest version of each list that was read.</summary>
    private static Dictionary<string, IReadOnlyList<long>> FindLongestLists(List<Operation> transactions)
    {
        Dictionary<string, IReadOnlyList<long>> lists = new(StringComparer.Ordinal);
        foreach (var (_, read) in ReadsOf(transactions))
        {
            if (!lists.TryGetValue(read.Key, out var longest) || read.Elements.Count > longest.Count)
            {
                lists[read.Key] = read.Elements;
            }
        }

        return lists;
    }

    private static IEnumerable<(int Reader, ListRead Read)> ReadsOf(List<Operation> transactions) =>
        from number in Enumerable.Range(0, transactions.Count)
        where transactions[number].Outcome == Outcome.Done
        from read in transactions[number].Reads
        select (number, read);

    /// <summary>
    /// Checks that every read list is a prefix of the longest one, whose elements were appended once each, by
    /// transactions that were not refused.
    /// </summary>
    private static string? FindWrongRead(
        List<Operation> transactions,
        Dictionary<string, IReadOnlyList<long>> lists,
        Dictionary<(string Key, long Element), int> appenders
    )
    {
        foreach (var (key, elements) in lists)
        {
            HashSet<long> seen = [];
            foreach (long element in elements)
            {
                if (!seen.Add(element))
                {
                    return $"{key} has {element} twice";
                }

                if (!appenders.TryGetValue((key, element), out int appender))
                {
                    return $"{key} has {element}, which nobody appended";
                }

                if (transactions[appender].Outcome == Outcome.Refused)
                {
                    return $"{key} has {element}, which was refused: {transactions[appender]}";
                }
            }
        }

        return (
            from read in ReadsOf(transactions)
            where !IsPrefix(read.Read.Elements, lists[read.Read.Key])
            select $"{transactions[read.Reader]} read a {read.Read.Key} that is not a beginning of its longest version"
        ).FirstOrDefault();
    }

    private static bool IsPrefix(IReadOnlyList<long> elements, IReadOnlyList<long> of)
    {
        for (int place = 0; place < elements.Count; place++)
        {
            if (elements[place] != of[place])
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>
    /// Adds the order that the lists show to that of real time: a writer comes before the next writer and before the
    /// readers of its version, and these come before the next writer.
    /// </summary>
    private static string? FindCycle(
        List<Operation> transactions,
        Dictionary<string, IReadOnlyList<long>> lists,
        Dictionary<(string Key, long Element), int> appenders
    )
    {
        var graph = new DependencyGraph(transactions);
        foreach (var (key, elements) in lists)
        {
            for (int place = 1; place < elements.Count; place++)
            {
                AddUnlessSame(graph, appenders[(key, elements[place - 1])], appenders[(key, elements[place])]);
            }
        }

        Dictionary<string, List<int>> readersOfLongest = new(StringComparer.Ordinal);
        foreach (var (reader, (key, elements)) in ReadsOf(transactions))
        {
            if (elements.Count > 0)
            {
                graph.AddEdge(appenders[(key, elements[^1])], reader);
            }

            if (elements.Count < lists[key].Count)
            {
                AddUnlessSame(graph, reader, appenders[(key, lists[key][elements.Count])]);
            }
            else
            {
                ListOf(readersOfLongest, key).Add(reader);
            }
        }

        return AddUnread(graph, transactions, lists, appenders, readersOfLongest) ?? graph.FindCycle();
    }

    /// <summary>
    /// Adds the appends that no read list contains: they come after all reads of the list. Of the transactions that
    /// read the list's end and appended, at most one can be the next writer.
    /// </summary>
    private static string? AddUnread(
        DependencyGraph graph,
        List<Operation> transactions,
        Dictionary<string, IReadOnlyList<long>> lists,
        Dictionary<(string Key, long Element), int> appenders,
        Dictionary<string, List<int>> readersOfLongest
    )
    {
        var read = lists.SelectMany(list => list.Value.Select(element => (list.Key, element))).ToHashSet();
        var unread = appenders.Where(append =>
            lists.ContainsKey(append.Key.Key)
            && !read.Contains(append.Key)
            && transactions[append.Value].Outcome == Outcome.Done
        );
        foreach (var ofKey in unread.GroupBy(append => append.Key.Key, append => append.Value, StringComparer.Ordinal))
        {
            var later = ofKey.Distinct().ToList();
            var both = readersOfLongest[ofKey.Key].Intersect(later).ToList();
            if (both.Count > 1)
            {
                return $"{transactions[both[0]]} and {transactions[both[1]]} read the same version of {ofKey.Key} "
                    + $"and appended to it: one of them was lost";
            }

            graph.AddEdges(readersOfLongest[ofKey.Key], later, both);
        }

        return null;
    }

    private static List<int> ListOf(Dictionary<string, List<int>> lists, string key)
    {
        if (!lists.TryGetValue(key, out var list))
        {
            lists.Add(key, list = []);
        }

        return list;
    }

    private static void AddUnlessSame(DependencyGraph graph, int from, int to)
    {
        if (from != to)
        {
            graph.AddEdge(from, to);
        }
    }
}
